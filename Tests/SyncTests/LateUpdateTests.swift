import Sync
import Testing

@Suite("Rows whose referenced row is deleted")
struct LateUpdateTests {
    /// Returns the result of a sync that omits company 1, which has users 1 to 4. A tag of another company's user names
    /// users 1 and 2, and gives user 1 another name.
    private func result(collectsKeys: Bool) async throws -> SyncResult {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let users = JSONValue.array(
            (1...4).map { ["id": JSONValue($0), "first_name": "Ada", "company": ["id": 1, "name": "One"]] })
        try await Sync.changes(users, inEntity: "User", stack: stack)
        let tag: JSONValue = ["id": 5, "users": [["id": 1, "first_name": "Grace"], ["id": 2, "first_name": "Ada"]]]
        let companies: JSONValue = [["id": 2, "users": [["id": 9, "tags": [tag]]]]]
        return try await Sync.changes(
            companies, inEntity: "Company", stack: stack,
            options: SyncOptions(resultDetail: collectsKeys ? .keys : .counts))
    }

    @Test("A row whose referenced row is deleted is updated once, with all changes")
    func rowIsUpdatedOnce() async throws {
        let users = try await result(collectsKeys: true)["User"]
        #expect(users.updated.map(\.key) == [.integer(1), .integer(2), .integer(3), .integer(4)])
        #expect(
            users.updated.map(\.changedAttributes) == [
                ["firstName", "company"], ["company"], ["company"], ["company"],
            ])
        #expect(users.updatedCount == 4)
        #expect(users.unchangedCount == 0)
    }

    @Test("A result without collected keys has the same counts")
    func countsNeedNoKeys() async throws {
        let listed = try await result(collectsKeys: true)
        let counted = try await result(collectsKeys: false)
        #expect(listed.entities.keys.sorted() == counted.entities.keys.sorted())
        for (entity, changes) in listed.entities {
            #expect(counted[entity].insertedCount == changes.insertedCount)
            #expect(counted[entity].updatedCount == changes.updatedCount)
            #expect(counted[entity].unchangedCount == changes.unchangedCount)
            #expect(counted[entity].deletedCount == changes.deletedCount)
        }
    }
}
