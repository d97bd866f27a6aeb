import ArgumentParser

/// `--wait 2m`: a time in seconds, or with `ms`, `s` or `m`.
struct RunPatience: ExpressibleByArgument, Equatable {
    let milliseconds: Int64

    init?(argument: String) {
        let time = WaitingTime.milliseconds(argument, plain: 1000)
        // No more than three years.
        guard let time, time <= 1e11 else { return nil }
        milliseconds = Int64(time)
    }
}
