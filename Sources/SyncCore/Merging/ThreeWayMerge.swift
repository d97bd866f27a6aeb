/// The merge of one domain of a row: what both sides last agreed on, what is here, what the server has. Pure.
package struct ThreeWayMerge<Value: Equatable> {
    /// What a domain holds then, and what is left to do about it.
    package enum Outcome: Equatable, Sendable {
        /// Both sides have the same.
        case same
        /// Only this side changed it: stays, and is still to be sent.
        case local
        /// Only the server changed it.
        case remote
        /// Both did, to different values.
        case conflict
    }

    package static func outcome(base: Value, local: Value, remote: Value) -> Outcome {
        if remote == local { return .same }
        if remote == base { return .local }
        if local == base { return .remote }
        return .conflict
    }
}

/// Who won a conflict, and why, as the log says it.
package struct ConflictOutcome: Equatable, Sendable {
    package enum Winner: String, Sendable {
        case local, remote
        /// Nobody yet.
        case open
    }

    package let winner: Winner
    /// `clientWins`, `editedLater`, …
    package let why: String

    /// - Parameters:
    ///   - edited: When the value was edited here, in milliseconds since 1970 by the clock of this machine.
    ///   - changed: When the server's record was changed, by the clock of the server; nil if it does not say.
    ///   - clock: What is added to the clock of this machine to have that of the server.
    ///   - known: The server's time of the record as it was before, which an edit made on top of it cannot precede.
    package init(
        _ policy: ConflictPolicy, edited: Int64, changed: Int64?, known: Int64?, now: Int64, clock: Int64
    ) {
        switch policy {
        case .clientWins: self.init(winner: .local, why: "clientWins")
        case .serverWins: self.init(winner: .remote, why: "serverWins")
        case .manual: self.init(winner: .open, why: "manual")
        case .lastWriterWins:
            let here = min(max(edited.clampedAdding(clock), known ?? .min), now.clampedAdding(clock))
            if let changed {
                let isLater = here > changed
                self.init(winner: isLater ? .local : .remote, why: "edited later \(isLater ? "here" : "there")")
            } else {
                self.init(winner: .remote, why: "serverWins: it gave no time")
            }
        }
    }

    package init(winner: Winner, why: String) {
        self.winner = winner
        self.why = why
    }
}

/// What the server says of a row, since this store last heard of it.
package enum RemoteState: String, Sendable, CaseIterable {
    /// The store did not know that the server has it.
    case created
    case updated
    /// It says that the row was deleted.
    case deleted
    /// A complete listing lacks it, and asked for it by itself the server does not have it.
    case absent
    case unchanged
}

/// What was done to a row here, since the server last heard of it.
package enum LocalState: String, Sendable, CaseIterable {
    /// Nothing.
    case clean
    /// The server does not know of it.
    case created
    case updated
    case deleted
    /// There is no such row, and never was.
    case absent
}

/// What becomes of a row that both sides have their say about.
package enum MergeAction: String, Sendable, CaseIterable {
    /// The server's values are written.
    case take
    /// A row made here and one of the server's turn out to be one: merged without a base.
    case twin
    /// Each domain is merged by itself.
    case threeWay
    /// `deleteWins`: the deletion is sent, with the server's new version. `editWins`: the row returns.
    case deletedHere
    /// `deleteWins`: the row goes, its edits into the log. `editWins`: it is created anew, with all values.
    case deletedThere
    /// The row goes by the delete rules of the model.
    case delete
    /// The row goes by the delete rules, within the limit of the deletion guard.
    case deleteGuarded
    /// The row stays, and is sent.
    case send
    /// Both deleted it: nothing is left to do.
    case clear
    /// A new row.
    case insert
    case nothing
}

/// What is done with a row, by what happened to it on either side: the one place that says so. `Docs/SyncProtocol.md` shows it.
package enum DecisionTable {
    /// In the order of ``LocalState``.
    private static let rows: [RemoteState: [MergeAction]] = [
        .created: [.take, .twin, .threeWay, .deletedHere, .insert],
        .updated: [.take, .twin, .threeWay, .deletedHere, .insert],
        .deleted: [.delete, .send, .deletedThere, .clear, .nothing],
        .absent: [.deleteGuarded, .send, .deletedThere, .clear, .nothing],
        .unchanged: [.nothing, .send, .send, .send, .nothing],
    ]

    package static func action(remote: RemoteState, local: LocalState) -> MergeAction {
        guard let row = rows[remote], let place = LocalState.allCases.firstIndex(of: local) else { return .nothing }
        return row[place]
    }

    /// The table as Markdown.
    package static var markdown: String {
        let states = LocalState.allCases
        let head = "| remote \\ local | " + states.map(\.rawValue).joined(separator: " | ") + " |"
        let line = String(repeating: "|---", count: states.count + 1) + "|"
        let body = RemoteState.allCases.map { remote in
            "| "
                + ([remote.rawValue] + states.map { "`\(action(remote: remote, local: $0).rawValue)`" })
                .joined(separator: " | ") + " |"
        }
        return ([head, line] + body).joined(separator: "\n")
    }
}

/// The order of a list that both sides may have changed. Pure.
///
/// Which elements the list has is settled before, by what was added and removed; here is only in which order they come.
package enum ListOrderMerge<Element: Hashable> {
    /// Whether elements that two lists have in common come in another order.
    package static func isMoved(_ list: [Element], from base: [Element]) -> Bool {
        let common = Set(base).intersection(list)
        return list.filter(common.contains) != base.filter(common.contains)
    }

    /// The elements in the order of one list; those that only the other one has follow what precedes them there.
    ///
    /// - Parameter elements: What the list has; what neither list has comes last.
    package static func merged(leader: [Element], follower: [Element], of elements: [Element]) -> [Element] {
        let all = Set(elements)
        let led = leader.filter(all.contains)
        let known = Set(led)
        // What comes behind each element of the leader, or before the first.
        var behind: [Element?: [Element]] = [:]
        var last: Element?
        for element in follower where all.contains(element) {
            if known.contains(element) { last = element } else { behind[last, default: []].append(element) }
        }
        let list = (behind[nil] ?? []) + led.flatMap { [$0] + (behind[$0] ?? []) }
        let placed = Set(list)
        return list + elements.filter { !placed.contains($0) }
    }

    /// Whose order counts.
    package enum Outcome: Equatable, Sendable {
        /// What only the other list has follows what precedes it there.
        case local, remote
        /// Both moved elements, to different places.
        case conflict
    }

    /// - Parameter base: What both sides had; nil if nobody knows.
    package static func outcome(base: [Element]?, local: [Element], remote: [Element]) -> Outcome {
        guard let base, isMoved(local, from: base) else { return .remote }
        guard isMoved(remote, from: base) else { return .local }
        return isMoved(local, from: remote) ? .conflict : .remote
    }
}

/// Who wins where a value was changed here and on the server since both last agreed.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The value of this store stays, and is sent.
    case clientWins
    /// The value of the server is taken.
    case serverWins
    /// The later change wins: the time of the edit here, by the clock of the server, against the server's time of the
    /// record. For services that give a time.
    case lastWriterWins
    /// The value here stays and the row waits, with both values kept, until somebody decides.
    case manual
}

/// Who wins where a row was deleted on one side and edited on the other.
public enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The row goes; what was edited is in the log of conflicts.
    case deleteWins
    /// The row stays, or comes back with all its values.
    case editWins
}
