import SyncCore
import SyncSQLite

/// The arguments that every form of `Sync.changes` shares.
struct SyncCall {
    let entity: String
    let stack: DataStack
    let predicate: RecordPredicate?
    let parent: Sync.Parent?
    let relationship: String?
    let operations: SyncOperations
    let options: SyncOptions

    init(
        _ entity: String, _ stack: DataStack, _ predicate: RecordPredicate?, _ parent: Sync.Parent?,
        _ relationship: String?, _ operations: SyncOperations, _ options: SyncOptions
    ) {
        self.entity = entity
        self.stack = stack
        self.predicate = predicate
        self.parent = parent
        self.relationship = relationship
        self.operations = operations
        self.options = options
    }

    func staging() throws -> PayloadStaging {
        try PayloadStaging(
            inEntity: entity, of: stack.model, parent: parent, relationship: relationship, operations: operations,
            options: options)
    }

    nonisolated(nonsending) func apply(_ plan: ChangePlan, isDryRun: Bool = false) async throws -> SyncResult {
        try await stack.apply(plan, predicate: predicate, options: options, isDryRun: isDryRun)
    }
}
