import Foundation

/// The optional behaviours of a random history besides edits, syncs and network faults.
///
/// `SYNC_HISTORY_MEMBERS=refusals,triggers` enables only these members, in every history; `SYNC_HISTORY_MEMBERS=none`
/// enables none. By default the seed decides. `SYNC_HISTORY_SMALLER=0` does not search for a smaller failing history,
/// and `SYNC_HISTORY_OMITTING=3,7` repeats a smaller history that was found. `SYNC_HISTORY_TEXT=1` prints histories
/// that pass. `SYNC_HISTORY_SALT=7` varies the keys, times and faults of all histories.
enum HistoryMember: String, CaseIterable, Comparable {
    /// Another engine of the same store has fewer entities, and resets it.
    case fewer
    /// The service rejects changes for a while, also while their row is edited again.
    case refusals
    /// Records contain nested rows that the service does not list.
    case nested
    /// Answers to changes are lost, and the row is edited or deleted meanwhile.
    case lost
    /// The service accepts no new row with a deleted ID.
    case reserved
    /// The triggers of the outbox are missing for a while.
    case triggers
    /// Conflicts stay open, and are resolved at random.
    case manual
    /// The deletion limit of listings is half of the rows.
    case guarded
    /// A row is written again during the request of each change.
    case writers
    /// An answer contains another row than the requested one.
    case wrong
    /// The answer to a change has no record.
    case bodiless
    /// The service deletes the dependent rows of a deleted row.
    case cascades
    /// Rows are moved below rows that other devices delete.
    case moves
    /// A row that one device deletes is edited by several others, and comes back.
    case revived
    /// Several devices create rows with the same key.
    case twins
    /// A page has a record whose ID is not a valid key.
    case ghosts
    /// Rows change while the pages of a list are read.
    case shifts
    /// An outdated replica answers for a while.
    case late
    /// The clock of the service is set back, or an answer has a future date.
    case clocks
    /// A change takes longer than a lease, and another engine of the device runs meanwhile.
    case slow
    /// All attributes and to-one references of a row are merged as one field.
    case whole
    /// The title and the project of a task are merged as one field, and so are other fields.
    case grouped
    /// Projects and tags are linked one-to-one, by devices and by another client. The service unlinks the project that
    /// had the tag before, and clears references to deleted tags.
    case pairs
    /// Two projects reference each other one-to-one, as devices or another client decide. The service keeps both
    /// references consistent.
    case mates
    /// Devices reference rows that are not stored. If the place has another client, it references such rows too, and
    /// creates some of them later.
    case absent
    /// The first engine of some devices does not sync tags, so rows reference tags with temporary keys.
    case partial

    static func < (left: HistoryMember, right: HistoryMember) -> Bool { left.rawValue < right.rawValue }

    /// Returns the members that a place supports.
    static func possible(at place: HistoryPlace) -> Set<HistoryMember> {
        switch place {
        case .memory:
            [
                .fewer, .refusals, .nested, .lost, .reserved, .triggers, .manual, .guarded, .writers, .wrong,
                .bodiless, .cascades, .moves, .revived, .twins, .ghosts, .slow, .whole, .grouped,
                .pairs, .mates, .absent, .partial,
            ]
        case .rest:
            [
                .fewer, .refusals, .lost, .reserved, .triggers, .manual, .guarded, .writers, .wrong, .bodiless,
                .moves, .revived, .twins, .ghosts, .shifts, .late, .clocks, .slow, .whole, .grouped,
                .absent, .partial,
            ]
        case .pocketBase, .parse, .changes, .kinto, .server:
            [.fewer, .triggers, .manual, .guarded, .moves, .revived, .whole, .grouped]
        }
    }

    /// Returns the members of a history.
    static func chosen(by seed: UInt64, at place: HistoryPlace) -> Set<HistoryMember> {
        let possible = possible(at: place)
        if let fixed = ProcessInfo.processInfo.environment["SYNC_HISTORY_MEMBERS"] {
            return possible.intersection(fixed.split(separator: ",").compactMap { HistoryMember(rawValue: String($0)) })
        }
        // Each member has its own numbers, so a new member changes only the histories that have it.
        return possible.filter { member in
            let state = member.rawValue.utf8.reduce(seed &* 0xD134_2543_DE82_EF95 &+ 7) { $0 &* 31 &+ UInt64($1) }
            var random = SeededNumbers(state: state)
            return random.next() % 5 == 0
        }
    }
}
