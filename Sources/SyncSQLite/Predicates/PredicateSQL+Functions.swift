import Foundation
package import GRDB
import SyncCore
package import SyncStore

extension PredicateSQL {
    /// Adds to a connection what compiled conditions use.
    package static func install(in db: Database) {
        db.add(function: foldFunction)
        db.add(function: likeFunction)
        db.add(function: matchesFunction)
        db.add(collation: decimalCollation)
    }

    /// Orders decimals by value, exactly; anything else comes after them, as text.
    package static let decimalCollation = DatabaseCollation("sync_decimal") { left, right in
        switch (ExactNumber(left), ExactNumber(right)) {
        case (let left?, let right?): order(left, right)
        case (.some, nil): .orderedAscending
        case (nil, .some): .orderedDescending
        case (nil, nil): order(left, right)
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : right < left ? .orderedDescending : .orderedSame
    }

    /// `sync_fold(utf8)`: text folded for comparison without case. It takes a blob because text arguments end at a NUL.
    package static let foldFunction = DatabaseFunction("sync_fold", argumentCount: 1, pure: true) { values in
        guard let text = utf8(values[0]) else { return nil }
        let folded = CaseFolding.fold(text)
        return folded.utf8.contains(0) ? Data(folded.utf8) : folded
    }

    /// `sync_like(utf8, pattern)`: whether all of the text matches a pattern with `*` and `?`.
    package static let likeFunction = DatabaseFunction("sync_like", argumentCount: 2, pure: true) { values in
        guard let text = utf8(values[0]), let pattern = utf8(values[1]) else { return nil }
        return WildcardPattern(pattern).matches(text)
    }

    /// `sync_matches(utf8, pattern, ignoringCase)`: whether all of the text matches a regular expression.
    package static let matchesFunction = DatabaseFunction("sync_matches", argumentCount: 3, pure: true) { values in
        guard let text = utf8(values[0]), let pattern = utf8(values[1]) else { return nil }
        let ignoresCase = Bool.fromDatabaseValue(values[2]) ?? false
        do {
            return try RegularExpressionCache.expression(pattern, ignoringCase: ignoresCase)?.matches(text)
        } catch let error as SyncError {
            // SQLite passes on the text alone, by which `StoreFailure` knows it again.
            throw DatabaseError(message: error.message)
        }
    }

    private static func utf8(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .blob(let data): String(decoding: data, as: UTF8.self)
        case .string(let text): text
        default: nil
        }
    }
}
