module adapter

go 1.25
