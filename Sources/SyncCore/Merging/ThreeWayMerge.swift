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
package struct ConflictRuling: Equatable, Sendable {
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
