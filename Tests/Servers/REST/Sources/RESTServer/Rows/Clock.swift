import Foundation

/// The times of a space's changes: no two the same, unless they are whole seconds.
struct Clock: Sendable {
    /// The time of the last change.
    private var last = 0

    /// The time of one more change.
    mutating func tick(coarse: Bool) -> Int {
        let now = Int(Date().timeIntervalSince1970 * 1000)
        last = coarse ? max(last, now) / 1000 * 1000 : max(last + 1, now)
        return last
    }
}
