import Foundation
import GRDB
import SyncCore
import SyncStore
import Testing

@testable import SyncSQLite

@Suite("Cancellation by a flag")
struct CancellationFlagTests {
    @Test("A sync whose flag is set is rolled back", arguments: [true, false])
    func flagRollsBack(isSet: Bool) throws {
        let schema = #"{ "entities": { "Note": { "attributes": { "id": "integer" } } } }"#
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        let staging = try PayloadGraphBuilder(
            inEntity: "Note", of: stack.model, parent: nil, operations: .all, options: SyncOptions())
        let payload = try staging.map(Data(#"[{"id": 1}]"#.utf8), options: SyncOptions())
        var request = SyncRequest()
        request.cancellation = CancellationFlag { isSet }
        let result: Result<SyncResult, any Error> = Result {
            try stack.write { db in
                try SQLiteWriter(stack: stack, db: db, isOwn: false).transaction(request) { try $0.apply(payload) }
            }
        }
        if isSet {
            #expect(throws: CancellationError.self) { try result.get() }
        } else {
            #expect(try result.get().entities["Note"]?.insertedCount == 1)
        }
        let count = try stack.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM Note") }
        #expect(count == (isSet ? 0 : 1))
    }
}
