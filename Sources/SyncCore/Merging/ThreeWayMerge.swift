/// A three-way merge of one field of a row, from its base value, local value and remote value.
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
    /// The winner, as the conflict log stores it.
    package enum Winner: String, Sendable {
        case local, remote
        /// Neither side. The conflict is open.
        case open
    }

    package let winner: Winner
    package let reason: SyncConflict.Reason
    /// Details of the reason, for users; nil for none.
    package let note: String?

    /// Resolves a conflict by a policy. All times are milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - editTime: The time of the local edit, by the local clock; 0 if it is not known.
    ///   - changed: The time of the remote change, by the service's clock; nil if the service reports no times.
    ///   - known: The service's time of the version that was edited; nil if it is not known. An edit never counts as
    ///     earlier than this version.
    ///   - now: The current time, by the local clock. An edit never counts as later than this time.
    ///   - clock: The offset from the local clock to the service's clock.
    package init(
        _ policy: ConflictPolicy, editTime: Int64, changed: Int64?, known: Int64?, now: Int64, clock: Int64
    ) {
        switch policy {
        case .clientWins: self.init(winner: .local, reason: .clientWins)
        case .serverWins: self.init(winner: .remote, reason: .serverWins)
        case .manual: self.init(winner: .open, reason: .manual)
        case .lastWriterWins:
            let here = min(max(editTime.clampedAdding(clock), known ?? .min), now.clampedAdding(clock))
            if let changed {
                let isLater = here > changed
                self.init(
                    winner: isLater ? .local : .remote, reason: isLater ? .editedLaterLocally : .editedLaterRemotely)
            } else {
                self.init(winner: .remote, reason: .noRemoteTime)
            }
        }
    }

    package init(winner: Winner, reason: SyncConflict.Reason, note: String? = nil) {
        self.winner = winner
        self.reason = reason
        self.note = note
    }
}

/// The change of a row at the service since the version that the engine knows.
package enum RemoteState: String, Sendable, CaseIterable {
    /// The service has the row, and the engine did not know that.
    case created
    case updated
    /// The service sent a tombstone.
    case deleted
    /// A complete listing omits the row. If the engine then fetched the row, the service responded that the row does
    /// not exist.
    case absent
    case unchanged
}

/// The local change of a row since the version that the engine knows.
package enum LocalState: String, Sendable, CaseIterable {
    /// The row has no pending changes.
    case clean
    /// The row is new, and the engine assumes that the service does not have it.
    case created
    case updated
    case deleted
    /// The engine does not know the row, and no change of it is pending.
    case absent
}

/// The action for a row, from its remote and local states.
package enum MergeAction: String, Sendable, CaseIterable {
    /// Write the remote values.
    case takeRemote
    /// Merge a row that was created locally with the record of the service that has the same key, without base values.
    /// If the two are different rows, give the local row another key.
    case mergeDuplicate
    /// Merge each field with its base value.
    case threeWay
    /// Resolve the conflict of a local deletion with a remote edit. `deleteWins` sends the deletion for the new
    /// version. `editWins` restores the row.
    case localDelete
    /// Resolve the conflict of a remote deletion with a local edit. `deleteWins` deletes the row and logs its edits.
    /// `editWins` creates the row at the service again, with all its values.
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

/// The table that maps the remote and local state of a row to an action. `Docs/SyncProtocol.md` shows the table.
package enum DecisionTable {
    /// The actions of each remote state, in the order of the cases of ``LocalState``.
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
}

/// A merge of the orders of a list that both sides may have changed.
///
/// The caller has already merged the elements, from those that each side added and removed. This merge only decides
/// their order.
package enum ListOrderMerge<Element: Hashable> {
    /// Returns whether two lists have their common elements in different orders.
    package static func isMoved(_ list: [Element], from base: [Element]) -> Bool {
        let common = Set(base).intersection(list)
        return list.filter(common.contains) != base.filter(common.contains)
    }

    /// Merges the orders of two lists.
    ///
    /// The elements of `leader` keep their order. An element that only `follower` has comes after the element of
    /// `leader` that precedes it in `follower`, or first if there is none.
    ///
    /// - Parameter elements: The elements of the result. Elements in neither list come last.
    package static func merged(leader: [Element], follower: [Element], of elements: [Element]) -> [Element] {
        let all = Set(elements)
        let led = leader.filter(all.contains)
        let known = Set(led)
        // The elements that follow each element of `leader`. The key nil has those before the first.
        var behind: [Element?: [Element]] = [:]
        var last: Element?
        for element in follower where all.contains(element) {
            if known.contains(element) { last = element } else { behind[last, default: []].append(element) }
        }
        var list = behind[nil] ?? []
        for element in led {
            list.append(element)
            list += behind[element] ?? []
        }
        let placed = Set(list)
        return list + elements.filter { !placed.contains($0) }
    }

    /// The outcome of a comparison of two orders with their base.
    package enum Outcome: Equatable, Sendable {
        /// The order of this side applies.
        case local, remote
        /// Both sides moved elements, and their orders differ.
        case conflict
    }

    /// Compares both orders with the base.
    ///
    /// - Parameter base: The last order that both sides had; nil if it is not known. The remote order applies then.
    package static func outcome(base: [Element]?, local: [Element], remote: [Element]) -> Outcome {
        guard let base, isMoved(local, from: base) else { return .remote }
        guard isMoved(remote, from: base) else { return .local }
        return isMoved(local, from: remote) ? .conflict : .remote
    }
}

/// The policy for a field that both sides changed.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The engine keeps and sends the local value.
    case clientWins
    /// The engine stores the remote value.
    case serverWins
    /// The later change wins. The engine compares the time of the local edit, converted to the service's clock, with
    /// the modification time of the record. If the times are equal, or if the record has no modification time, the
    /// remote value wins.
    case lastWriterWins
    /// The local value stays. The engine does not send changes of the row until the conflict is closed. The conflict
    /// log has the local value and the remote value.
    case manual
}

/// The policy for a row that one side deleted and the other side edited.
public enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The row is deleted on both sides, unless the local deletion is only a cascade of a remote deletion. The conflict
    /// log has the edits.
    case deleteWins
    /// The row stays on both sides. The side that deleted the row gets the row again, with all values of the other
    /// side. The deleted rows that a cascading delete rule connects with the row come back too.
    case editWins
}
