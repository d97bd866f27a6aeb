import Foundation
import SyncCore

/// The state of a pull from which the next cursor is computed, for a service that returns the changes since a time.
///
/// The next cursor is the earlier of two times:
/// - the time of the first response by the clock of the service, minus an overlap
/// - the newest modification time in the pages, minus a margin
///
/// The clock of the service alone is not reliable, because a proxy may have written the `Date` header. A pull without
/// records does not move the cursor, because a stale replica may have responded.
struct TimeCursor {
    /// The default margin. It is needed because services that compare times as text sort `40.4Z` before `40Z`.
    static let margin = Duration.seconds(1)

    /// The time of the first response by the clock of the service.
    private(set) var began: Date?
    /// The newest modification time in the pages so far.
    private(set) var newest: Date?
    /// Whether any page so far has records.
    private(set) var hasRows = false

    init() {}

    /// Creates a cursor that continues after earlier pages of the same pull.
    init(began: Date?, newest: Date?, hasRows: Bool) {
        (self.began, self.newest, self.hasRows) = (began, newest, hasRows)
    }

    /// Adds a page, with the modification times of its records and the time of its response.
    mutating func record(_ times: [Date?], hasRows: Bool, clock: Date?) {
        began = began ?? clock
        newest = (times + [newest]).compactMap(\.self).max()
        self.hasRows = self.hasRows || hasRows
    }

    /// Returns the time since which the next pull requests changes; nil to pull all records. Returns nil also if the
    /// pull has records, but no response has a time.
    ///
    /// - Parameter known: The cursor of this pull. The result is never earlier.
    func next(after known: Date?, overlap: Duration, margin: Duration = Self.margin) -> Date? {
        guard hasRows else { return known }
        guard let began else { return nil }
        let bounds = [began.addingTimeInterval(-overlap.seconds), newest?.addingTimeInterval(-margin.seconds)]
        return [bounds.compactMap(\.self).min(), known].compactMap(\.self).max()
    }

    /// Checks that the clock of the service is not earlier than the cursor. If the clock was set back, new changes may
    /// have times before the cursor.
    ///
    /// - Throws: ``ServiceError`` `cursorInvalid`. The engine then pulls all records.
    static func check(_ cursor: Date?, clock: Date?) throws {
        if let cursor, let clock, cursor > clock { throw ServiceError.cursorInvalid }
    }
}

extension Date {
    /// The date without the fraction of its second.
    var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}

/// The order of IDs in a list that is paged by ID. Each page of such a list begins after the last ID of the previous
/// page.
enum IDOrder {
    /// Returns whether an ID comes after another one, either by bytes or in a collation that ignores case and
    /// punctuation. Databases use one of these orders. The function returns true for IDs that are not ASCII text,
    /// because their order is unknown.
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

    /// Checks that a row comes after the last row of the previous page: by time, and by ID if the times are equal.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse` if the row does not.
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
