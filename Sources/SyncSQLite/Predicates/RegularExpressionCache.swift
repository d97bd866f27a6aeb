import SyncCore

/// Keeps the regular expressions compiled last: SQL asks for one again with every row.
enum RegularExpressionCache {
    private struct Key: Hashable {
        let pattern: String
        let ignoresCase: Bool
    }

    private static let capacity = 100
    private static let expressions = Locked<[Key: RegularExpression]>([:])

    static func expression(_ pattern: String, ignoringCase: Bool) -> RegularExpression? {
        let key = Key(pattern: pattern, ignoresCase: ignoringCase)
        return expressions.withLock { expressions in
            if let known = expressions[key] { return known }
            if expressions.count >= capacity { expressions.removeAll() }
            let expression = RegularExpression(pattern, ignoringCase: ignoringCase)
            expressions[key] = expression
            return expression
        }
    }
}
