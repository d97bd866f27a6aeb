import SyncCore
import Testing

@testable import SyncStore

// What no test of a part asks for: it would be a mistake of the part.
extension FakeStore {
    private func unexpected(_ operation: String = #function) { Issue.record("\(operation) was not to be asked") }

    func begin(_ plan: ChangePlan, _ tables: SyncTables, _ steps: SyncSteps) { unexpected() }
    func end(awaits: Bool) { unexpected() }
    func makeRoom(forInserting count: Int) { unexpected() }
    func checkLinks() { unexpected() }
    func notifyObservers(of tables: [TableID], andPairs: Bool) { unexpected() }

    func meet(_ table: SyncTable, _ pass: MatchPass, _ watch: StrayWatch) { unexpected() }
    func meet(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) { unexpected() }

    func compare(_ said: inout LinkPairs, _ link: Link, speaksOfAll: Bool) -> ComparedPairs {
        unexpected()
        return ComparedPairs()
    }

    func rows(
        of entity: CompiledEntity, where predicate: RecordPredicate?, keeping: ([RowKey]) throws -> [RowKey]
    ) -> [RowKey] {
        unexpected()
        return []
    }

    func rows(among rows: [RowKey], of entity: CompiledEntity, where predicate: RecordPredicate) -> Set<RowKey> {
        unexpected()
        return []
    }

    func check(_ predicate: RecordPredicate, on entity: CompiledEntity) { unexpected() }

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

    func refine(_ rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) { unexpected() }
    func delete(_ rows: [StoredRow]) { unexpected() }
    func insert(_ pairs: [NodePair], _ places: [LinkPlaces], _ link: Link) { unexpected() }

    func danglingLinks() -> [DanglingPairs] {
        unexpected()
        return []
    }

    func danglingPairs() -> [DanglingPairs] {
        unexpected()
        return []
    }

    func removeDangling(_ links: [LinkID]) { unexpected() }

    func rememberedReferences() -> [RememberedReference] {
        unexpected()
        return []
    }

    func remember(_ references: [RememberedReference]) { unexpected() }
    func forget(_ references: [LateReference]) { unexpected() }
    func forgetReferences(of rows: [StoredRow]) { unexpected() }
    func forgetReferencesOfNewNodes() { unexpected() }

    func move(_ marks: inout MarkedRows, to table: String?) -> String {
        unexpected()
        return ""
    }

    func dropMarks(in table: String) { unexpected() }
}
