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
    mutating func note(_ times: [Date?], hasRows: Bool, clock: Date?) {
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
    /// - Throws: ``ServiceFailure`` `cursorInvalid`, after which all is pulled.
    static func check(_ cursor: Date?, clock: Date?) throws {
        if let cursor, let clock, cursor > clock { throw ServiceFailure.cursorInvalid }
    }
}

extension Date {
    /// The second that it is in.
    var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
