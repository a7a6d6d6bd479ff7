module purgatory/peer

go 1.23
