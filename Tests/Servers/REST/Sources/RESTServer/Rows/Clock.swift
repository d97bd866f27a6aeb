import Foundation

/// The times of a space's changes. They are unique unless they are whole seconds.
struct Clock: Sendable {
    /// The time of the last change.
    private var last = 0

    /// Returns the time of the next change.
    mutating func tick(coarse: Bool) -> Int {
        let now = Int(Date().timeIntervalSince1970 * 1000)
        last = coarse ? max(last, now) / 1000 * 1000 : max(last + 1, now)
        return last
    }
}
