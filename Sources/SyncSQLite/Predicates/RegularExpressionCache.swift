import Foundation
import SyncCore

/// Keeps the regular expressions compiled last: SQL asks for one again with every row.
///
/// `@unchecked Sendable`: `expressions` is only touched while `lock` is held.
final class RegularExpressionCache: @unchecked Sendable {
    private struct Key: Hashable {
        let pattern: String
        let ignoresCase: Bool
    }

    static let shared = RegularExpressionCache()

    private static let capacity = 100
    private let lock = NSLock()
    private var expressions: [Key: RegularExpression] = [:]

    func expression(_ pattern: String, ignoringCase: Bool) -> RegularExpression? {
        let key = Key(pattern: pattern, ignoresCase: ignoringCase)
        return lock.withLock {
            if let known = expressions[key] { return known }
            if expressions.count >= Self.capacity { expressions.removeAll() }
            let expression = RegularExpression(pattern, ignoringCase: ignoringCase)
            expressions[key] = expression
            return expression
        }
    }
}
