import Foundation
import SyncCore

/// Where the next pull begins, of a service that is asked for what changed since a time.
///
/// The cursor is the earlier of two times: the service's clock when the first page was asked for, less the overlap, and the newest version
/// in the pages, less a margin. A clock alone is one header, which a proxy may have written. An answer without rows moves nothing: it
/// may come from a replica that is behind.
struct TimeCursor {
    /// What services keep of a time that they compare as text: there `40.4Z` comes before `40Z`.
    static let margin = Duration.seconds(1)

    /// The service's clock when the first page was asked for.
    private(set) var began: Date?
    /// The newest version in the pages.
    private(set) var newest: Date?
    /// Whether the pages have any rows.
    private(set) var hasRows = false

    init() {}

    /// Goes on with what was seen before.
    init(began: Date?, newest: Date?, hasRows: Bool) {
        (self.began, self.newest, self.hasRows) = (began, newest, hasRows)
    }

    /// Notes a page.
    mutating func record(_ times: [Date?], hasRows: Bool, clock: Date?) {
        began = began ?? clock
        newest = (times + [newest]).compactMap(\.self).max()
        self.hasRows = self.hasRows || hasRows
    }

    /// The time that the next pull asks for; nil for all, as where the service says no time.
    ///
    /// - Parameter known: Where this pull began. The cursor never goes back.
    func next(after known: Date?, overlap: Duration, margin: Duration = Self.margin) -> Date? {
        guard hasRows else { return known }
        guard let began else { return nil }
        let bounds = [began.addingTimeInterval(-overlap.seconds), newest?.addingTimeInterval(-margin.seconds)]
        return [bounds.compactMap(\.self).min(), known].compactMap(\.self).max()
    }

    /// Looks whether the service's clock was set back since a cursor was made: what changes by that clock is before the cursor.
    ///
    /// - Throws: ``ServiceError`` `cursorInvalid`, after which all is pulled.
    static func check(_ cursor: Date?, clock: Date?) throws {
        if let cursor, let clock, cursor > clock { throw ServiceError.cursorInvalid }
    }
}

extension Date {
    /// The second that it is in.
    var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}

/// Whether a list goes forward that is asked for by id: each page behind the last row of the one before it.
enum IDOrder {
    /// Whether an id comes after another one, in one of the orders that databases have: by bytes, or as words are sorted, where letters
    /// of either case stand together. Of ids with other characters than ASCII nothing is known.
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

    /// - Throws: ``ServiceError`` `malformed` for a row that does not come after another one.
    static func check(_ row: (time: String?, id: String), after last: (time: String?, id: String), in list: String)
        throws
    {
        let isAfter = row.time == last.time ? isAfter(row.id, last.id) : (row.time ?? "") > (last.time ?? "")
        guard isAfter else {
            throw ServiceError.malformed(
                "its list of \(list) does not go forward: '\(row.id)' comes behind '\(last.id)'")
        }
    }
}
