module purgatory/adapters

go 1.25

// Each release is the newest at the time of its verdict.
require (
	github.com/RussellLuo/timingwheel v0.0.0-20220218152713-54845bda3108
	github.com/benbjohnson/clock v1.3.5
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/jonboulle/clockwork v0.5.0
	github.com/robfig/cron/v3 v3.0.1
)

require github.com/google/uuid v1.6.0 // indirect
