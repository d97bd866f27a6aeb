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
