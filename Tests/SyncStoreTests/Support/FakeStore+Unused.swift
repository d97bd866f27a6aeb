import SyncCore
import Testing

@testable import SyncStore

// No tested part uses these operations, so a call fails the test.
extension FakeStore {
    private func unexpected(_ operation: String = #function) { Issue.record("\(operation) was not to be asked") }

    func begin(_ graph: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) { unexpected() }
    func end(awaits: Bool) { unexpected() }
    func reserveCapacity(forInserting count: Int) { unexpected() }
    func checkLinks() -> [OutsideReferences] {
        unexpected()
        return []
    }
    func notifyObservers(of tables: [ChangedTable], andLinks: Bool) { unexpected() }

    func match(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) { unexpected() }
    func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) { unexpected() }

    func diff(_ said: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) -> JoinTableDiff {
        unexpected()
        return JoinTableDiff()
    }

    func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, after key: RowKey?, limit: Int
    ) -> [RowKey] {
        unexpected()
        return []
    }

    func rows(among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate) -> Set<RowKey> {
        unexpected()
        return []
    }

    func check(_ predicate: RowPredicate, on entity: CompiledEntity) { unexpected() }

    func setKey(of row: RowKey, _ entity: CompiledEntity, to key: RowKey) -> RowKey {
        unexpected()
        return key
    }

    func count(of entity: CompiledEntity, upTo limit: Int?) -> Int {
        unexpected()
        return 0
    }

    func nextKey(of table: TableID) -> Int64 {
        unexpected()
        return 0
    }

    func insert(_ nodes: [NodeID], _ table: SyncTable) { unexpected() }
    func update(_ nodes: [NodeID], _ table: SyncTable) { unexpected() }

    func setEntities(of rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) { unexpected() }
    func delete(_ rows: [StoredRow]) -> [OutsideReferences] {
        unexpected()
        return []
    }
    func rowCount(ofTable name: String) -> Int {
        unexpected()
        return 0
    }
    func insert(_ pairs: [NodeLink], _ places: [LinkPositions], _ link: CompiledAssociation) { unexpected() }

    func danglingLinks() -> [DanglingJoinRows] {
        unexpected()
        return []
    }

    func danglingJoinRows() -> [DanglingJoinRows] {
        unexpected()
        return []
    }

    func removeDangling(_ links: [AssociationID]) { unexpected() }

    func pendingReferences() -> [PositionedReference] {
        unexpected()
        return []
    }

    func insertPendingReferences(_ references: [PositionedReference]) { unexpected() }
    func deletePendingReferences(_ references: [PendingReference]) { unexpected() }
    func deletePendingReferences(of rows: [StoredRow]) { unexpected() }
    func deletePendingReferencesOfNewNodes() { unexpected() }
}
