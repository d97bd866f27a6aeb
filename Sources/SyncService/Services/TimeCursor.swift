import Foundation
import SyncCore

/// The cursor of a service that returns the changes since a time.
///
/// The cursor is the earlier of two times: the clock of the service at the first page, minus the overlap, and the
/// newest version of the pages, minus a margin. The clock alone is not enough: it is one header, which a proxy may have
/// written. A response without rows does not move the cursor, since it may come from a stale replica.
struct TimeCursor {
    /// Services that compare times as text sort `40.4Z` before `40Z`. The margin covers that.
    static let margin = Duration.seconds(1)

    /// The clock of the service at the first page.
    private(set) var began: Date?
    /// The newest version of the pages.
    private(set) var newest: Date?
    /// Whether the pages have rows.
    private(set) var hasRows = false

    init() {}

    /// Continues with the state of earlier pages.
    init(began: Date?, newest: Date?, hasRows: Bool) {
        (self.began, self.newest, self.hasRows) = (began, newest, hasRows)
    }

    /// Adds a page.
    mutating func record(_ times: [Date?], hasRows: Bool, clock: Date?) {
        began = began ?? clock
        newest = (times + [newest]).compactMap(\.self).max()
        self.hasRows = self.hasRows || hasRows
    }

    /// Returns the time from which the next pull asks for changes; nil to pull all rows, which is needed if the service
    /// reports no time.
    ///
    /// - Parameter known: The cursor of this pull. The new cursor is never earlier.
    func next(after known: Date?, overlap: Duration, margin: Duration = Self.margin) -> Date? {
        guard hasRows else { return known }
        guard let began else { return nil }
        let bounds = [began.addingTimeInterval(-overlap.seconds), newest?.addingTimeInterval(-margin.seconds)]
        return [bounds.compactMap(\.self).min(), known].compactMap(\.self).max()
    }

    /// Checks that the clock of the service was not set back since the cursor. If it was, new changes may be before the
    /// cursor.
    ///
    /// - Throws: ``ServiceError`` `cursorInvalid`. The engine then pulls all rows.
    static func check(_ cursor: Date?, clock: Date?) throws {
        if let cursor, let clock, cursor > clock { throw ServiceError.cursorInvalid }
    }
}

extension Date {
    /// The beginning of the second.
    var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}

/// The order of IDs in a list that is paged by ID: each page begins after the last row of the page before.
enum IDOrder {
    /// Returns whether an ID comes after another one, by bytes or in a collation that ignores case and punctuation.
    /// Databases use either. IDs with characters outside ASCII count as ordered.
    static func isAfter(_ id: JSONValue, _ other: JSONValue) -> Bool {
        guard case (.string(let id), .string(let other)) = (id, other) else { return true }
        return isAfter(id, other)
    }

    static func isAfter(_ id: String, _ other: String) -> Bool {
        guard id.utf8.allSatisfy({ $0 < 0x80 }), other.utf8.allSatisfy({ $0 < 0x80 }) else { return true }
        if other.utf8.lexicographicallyPrecedes(id.utf8) { return true }
        let (word, otherWord) = (word(id), word(other))
        return otherWord < word || word == otherWord && id != other
    }

    private static func word(_ id: String) -> String {
        id.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// Checks that a row comes after another one.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse` if it does not.
    static func check(_ row: (time: String?, id: String), after last: (time: String?, id: String), in list: String)
        throws
    {
        let isAfter = row.time == last.time ? isAfter(row.id, last.id) : (row.time ?? "") > (last.time ?? "")
        guard isAfter else {
            throw ServiceError.invalidResponse(
                "its list of \(list) is not in order: '\(row.id)' comes after '\(last.id)'")
        }
    }
}
