public import SyncCore

/// What a migration of a store changes, and what would be lost by it.
public struct MigrationReport: Sendable, Hashable, Codable {
    /// Where the new model needs other tables, by path in a schema file.
    public let changes: [SyncError.Problem]
    /// What the new model has no place for, with how many rows, values or links it is.
    public let losses: [SyncError.Problem]
}
