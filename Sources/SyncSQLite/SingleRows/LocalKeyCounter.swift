import Foundation

/// Remembers the integer keys given out, so that two asked for before either is used are different.
///
/// `@unchecked Sendable`: `last` is only touched while `lock` is held.
package final class LocalKeyCounter: @unchecked Sendable {
    private let lock = NSLock()
    private var last: [Int: Int64] = [:]

    /// The next key of an entity's rows.
    ///
    /// - Parameter stored: The highest local key in the table.
    func next(for keyOwner: Int, after stored: Int64?) -> Int64 {
        lock.withLock {
            let highest = max(stored ?? .min, last[keyOwner] ?? .min)
            let isFirst = stored == nil && last[keyOwner] == nil
            let next = isFirst ? highest : highest + 1
            last[keyOwner] = next
            return next
        }
    }
}
