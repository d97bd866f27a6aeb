/// The three-way merge of one field of a row: base value, local value and remote value. Pure.
package struct ThreeWayMerge<Value: Equatable> {
    /// The outcome of the merge of a field.
    package enum Outcome: Equatable, Sendable {
        /// Both sides have the same value.
        case same
        /// Only the local side changed the field. The value stays pending.
        case local
        /// Only the remote side changed the field.
        case remote
        /// Both sides changed the field, to different values.
        case conflict
    }

    package static func outcome(base: Value, local: Value, remote: Value) -> Outcome {
        if remote == local { return .same }
        if remote == base { return .local }
        if local == base { return .remote }
        return .conflict
    }
}

/// The winner of a conflict, with the reason that the conflict log keeps.
package struct ConflictOutcome: Equatable, Sendable {
    package typealias Winner = SyncConflict.Winner

    package let winner: Winner
    /// The text for the conflict log: the raw value of a ``SyncConflict/Reason``, or the reason with details.
    package let reason: String

    /// Resolves a conflict by a policy. All times are milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - edited: The time of the local edit, by the local clock.
    ///   - changed: The time at which the server changed the record, by its clock; nil if the service gives none.
    ///   - clock: The offset from the local clock to the clock of the server.
    ///   - known: The server's time of the record before the edit. An edit is never earlier than the record that it
    ///     changes.
    package init(
        _ policy: ConflictPolicy, editTime: Int64, changed: Int64?, known: Int64?, now: Int64, clock: Int64
    ) {
        switch policy {
        case .clientWins: self.init(winner: .local, reason: SyncConflict.Reason.clientWins.rawValue)
        case .serverWins: self.init(winner: .remote, reason: SyncConflict.Reason.serverWins.rawValue)
        case .manual: self.init(winner: .open, reason: SyncConflict.Reason.manual.rawValue)
        case .lastWriterWins:
            let here = min(max(editTime.clampedAdding(clock), known ?? .min), now.clampedAdding(clock))
            if let changed {
                let isLater = here > changed
                self.init(
                    winner: isLater ? .local : .remote,
                    reason: (isLater ? SyncConflict.Reason.editedLaterLocally : .editedLaterRemotely).rawValue)
            } else {
                self.init(winner: .remote, reason: SyncConflict.Reason.noRemoteTime.rawValue)
            }
        }
    }

    package init(winner: Winner, reason: String) {
        self.winner = winner
        self.reason = reason
    }
}

/// The state of a row on the server, compared with what the engine knew of it.
package enum RemoteState: String, Sendable, CaseIterable {
    /// The engine did not know that the server has the row.
    case created
    case updated
    /// The server sent a tombstone.
    case deleted
    /// A complete listing lacks the row, and the server answered that it does not exist.
    case absent
    case unchanged
}

/// The local state of a row since its last exchange with the server.
package enum LocalState: String, Sendable, CaseIterable {
    /// The row has no pending changes.
    case clean
    /// The row is new, and the server does not have it.
    case created
    case updated
    case deleted
    /// The engine knows no such row, and there is no pending change for it.
    case absent
}

/// The action for a row, from its remote and local states.
package enum MergeAction: String, Sendable, CaseIterable {
    /// Write the remote values.
    case takeRemote
    /// Merge a row that was created locally with the server's row of the same key, without a base value.
    case mergeDuplicate
    /// Merge each field.
    case threeWay
    /// The row was deleted locally. `deleteWins`: send the deletion, for the new version. `editWins`: restore the row.
    case localDelete
    /// The row was deleted on the server. `deleteWins`: delete it and log its edits. `editWins`: create it again, with
    /// all values.
    case remoteDelete
    /// Delete the row by the delete rules of the model.
    case delete
    /// Delete the row by the delete rules, within the deletion limit.
    case deleteWithinLimit
    /// Keep the row and its pending change.
    case send
    /// Both sides deleted the row: remove the pending change.
    case clear
    /// Insert the row.
    case insert
    case nothing
}

/// Maps the states of a row to an action. The only place with these decisions; `Docs/SyncProtocol.md` shows the table.
package enum DecisionTable {
    /// The actions, in the order of ``LocalState``.
    private static let rows: [RemoteState: [MergeAction]] = [
        .created: [.takeRemote, .mergeDuplicate, .threeWay, .localDelete, .insert],
        .updated: [.takeRemote, .mergeDuplicate, .threeWay, .localDelete, .insert],
        .deleted: [.delete, .send, .remoteDelete, .clear, .nothing],
        .absent: [.deleteWithinLimit, .send, .remoteDelete, .clear, .nothing],
        .unchanged: [.nothing, .send, .send, .send, .nothing],
    ]

    package static func action(remote: RemoteState, local: LocalState) -> MergeAction {
        guard let row = rows[remote], let index = LocalState.allCases.firstIndex(of: local) else { return .nothing }
        return row[index]
    }

    /// The table as Markdown, which a test compares with the document.
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

/// The merge of the order of a list that both sides may have changed. Pure.
///
/// The elements are merged before, from what each side added and removed. This merge only decides their order.
package enum ListOrderMerge<Element: Hashable> {
    /// Returns whether the elements that two lists share differ in order.
    package static func isMoved(_ list: [Element], from base: [Element]) -> Bool {
        let common = Set(base).intersection(list)
        return list.filter(common.contains) != base.filter(common.contains)
    }

    /// Merges the order of two lists. An element that only `follower` has comes after the element that precedes it
    /// there.
    ///
    /// - Parameter elements: The merged elements. Those in neither list come last.
    package static func merged(leader: [Element], follower: [Element], of elements: [Element]) -> [Element] {
        let all = Set(elements)
        let led = leader.filter(all.contains)
        let known = Set(led)
        // The elements after each element of the leader; under nil, those before the first.
        var behind: [Element?: [Element]] = [:]
        var last: Element?
        for element in follower where all.contains(element) {
            if known.contains(element) { last = element } else { behind[last, default: []].append(element) }
        }
        let list = (behind[nil] ?? []) + led.flatMap { [$0] + (behind[$0] ?? []) }
        let placed = Set(list)
        return list + elements.filter { !placed.contains($0) }
    }

    /// The side whose order applies.
    package enum Outcome: Equatable, Sendable {
        /// The order of this side applies.
        case local, remote
        /// Both sides moved elements, and their orders differ.
        case conflict
    }

    /// Compares both orders with the base.
    ///
    /// - Parameter base: The last order that both sides had; nil if it is not known.
    package static func outcome(base: [Element]?, local: [Element], remote: [Element]) -> Outcome {
        guard let base, isMoved(local, from: base) else { return .remote }
        guard isMoved(remote, from: base) else { return .local }
        return isMoved(local, from: remote) ? .conflict : .remote
    }
}

/// The policy for a field that both sides changed since the base value.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The local value stays, and the engine sends it.
    case clientWins
    /// The remote value is stored.
    case serverWins
    /// The later change wins. The time of the local edit, by the server's clock, is compared with the server's time of
    /// the record. On a tie the server wins. It needs a service that gives times.
    case lastWriterWins
    /// The local value stays, and the row is not sent until the caller resolves the conflict. Both values are kept.
    case manual
}

/// The policy for a row that one side deleted and the other edited.
public enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The row is deleted. The conflict log keeps the edits.
    case deleteWins
    /// The row stays, or is created again with all its values.
    case editWins
}
