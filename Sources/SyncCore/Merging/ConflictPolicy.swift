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
