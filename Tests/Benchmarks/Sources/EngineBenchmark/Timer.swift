import Foundation

/// The processor time of the process, in seconds.
func processorTime() -> Double {
    var usage = rusage()
    getrusage(0, &usage)  // RUSAGE_SELF, whose type is not Int32 on every platform
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}

/// The wall time and the processor time since the creation of the value.
struct Stopwatch: CustomStringConvertible {
    private let start = ContinuousClock.now
    private let processor = processorTime()

    var description: String {
        let wall = (ContinuousClock.now - start).formatted(.units(allowed: [.milliseconds], width: .narrow))
        return "\(wall), \(Int((processorTime() - processor) * 1000))ms of processor time"
    }
}
