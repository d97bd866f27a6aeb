import GRDB
import Sync
import Testing

/// SQLite searches for the referencing rows when a row is deleted or its key changes.
@Suite("Foreign keys")
struct ForeignKeyIndexTests {
    @Test("Every foreign key has an index, alone or as the first of several columns", arguments: PlanModel.all)
    func foreignKeysAreIndexed(_ keys: PlanModel) async throws {
        let stack = try DataStack.inMemory(keys.model())
        let (columns, bare) = try await stack.read { db in
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
            let columns = try tables.flatMap { table in
                try String.fetchAll(db, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?)", arguments: [table])
                    .map { (table, $0) }
            }
            let bare = try columns.filter { table, column in
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT count(*) FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
                        WHERE info.seqno = 0 AND info.name = ? AND NOT list.partial
                        """, arguments: [table, column]) == 0
            }
            return (columns.count, bare.map { "\($0).\($1)" })
        }
        #expect(columns > 12)
        #expect(bare == [])
    }
}
