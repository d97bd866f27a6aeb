import Foundation

/// What a random history has beyond edits, syncs and a network that fails.
///
/// `SYNC_HISTORY_MEMBERS=refusals,triggers` takes just these, in every history; `SYNC_HISTORY_MEMBERS=none` takes none. Without it the seed
/// chooses. `SYNC_HISTORY_SMALLER=0` does not look for a smaller history that fails, `SYNC_HISTORY_OMITTING=3,7` takes the
/// one that was found again. `SYNC_HISTORY_TEXT=1` prints those that do not fail.
enum HistoryMember: String, CaseIterable, Comparable {
    /// Another engine of the same store has fewer entities, and resets it.
    case fewer
    /// Changes are refused for a while, also while their row is edited again.
    case refusals
    /// Records contain rows that the service does not list.
    case nested
    /// Answers to changes are lost, and the row is edited or deleted meanwhile.
    case lost
    /// An id that was deleted takes no new row.
    case reserved
    /// The triggers of the outbox are away for a while.
    case triggers
    /// Conflicts wait, and are decided at random.
    case manual
    /// Listings may delete no more than half of the rows.
    case guarded
    /// A row is written again while each change is on its way.
    case writers
    /// An answer has another row than was asked for.
    case wrong
    /// A change is answered without a record.
    case bodiless
    /// The service deletes what belongs to a row that is deleted.
    case cascades
    /// Rows are moved below rows that other devices delete.
    case moves
    /// A row that one device deletes is edited by several others, and comes back.
    case revived
    /// Several devices make rows of the same key.
    case twins
    /// A page has a record whose id is no key.
    case ghosts
    /// Rows change while pages of a list are read.
    case shifts
    /// A replica that is behind answers for a while.
    case late
    /// The clock of the service is set back, or an answer has a date in the future.
    case clocks
    /// A change takes longer than a lease, and another engine of the device runs meanwhile.
    case slow

    static func < (left: HistoryMember, right: HistoryMember) -> Bool { left.rawValue < right.rawValue }

    /// Those that a place can have.
    static func possible(at place: HistoryPlace) -> Set<HistoryMember> {
        switch place {
        case .memory:
            [
                .fewer, .refusals, .nested, .lost, .reserved, .triggers, .manual, .guarded, .writers, .wrong,
                .bodiless, .cascades, .moves, .revived, .twins, .ghosts, .slow,
            ]
        case .rest:
            [
                .fewer, .refusals, .lost, .reserved, .triggers, .manual, .guarded, .writers, .wrong, .bodiless,
                .moves, .revived, .twins, .ghosts, .shifts, .late, .clocks, .slow,
            ]
        case .pocketBase, .parse, .changes, .kinto, .server: [.fewer, .triggers, .manual, .guarded, .moves, .revived]
        }
    }

    /// The members of a history.
    static func chosen(by seed: UInt64, at place: HistoryPlace) -> Set<HistoryMember> {
        let possible = possible(at: place)
        if let fixed = ProcessInfo.processInfo.environment["SYNC_HISTORY_MEMBERS"] {
            return possible.intersection(fixed.split(separator: ",").compactMap { HistoryMember(rawValue: String($0)) })
        }
        var random = SeededNumbers(state: seed &* 0xD134_2543_DE82_EF95 &+ 7)
        // One draw for each, so that a member more changes only the histories that have it.
        return Set(possible.sorted().filter { _ in random.next() % 5 == 0 })
    }
}
