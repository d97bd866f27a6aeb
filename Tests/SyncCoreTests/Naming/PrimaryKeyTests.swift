import SyncCore
import Testing

@Suite("Primary keys")
struct PrimaryKeyTests {
    /// Returns the local and the remote name of an entity's primary key.
    private func key(_ entities: SyncModel.Entity..., of name: String) throws -> [String]? {
        try SyncModel(entities: entities).primaryKey(of: name).map { [$0.local, $0.remote] }
    }

    @Test("An attribute named id or remoteID is the primary key, and id wins")
    func findsKeyByName() throws {
        #expect(
            try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("remoteID", .integer)]), of: "A") == [
                "remoteID", "id",
            ])
        #expect(
            try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .string)]), of: "A") == ["id", "id"])
        let both = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("id", .uuid)])
        #expect(try key(both, of: "A") == ["id", "id"])
    }

    @Test("A marked or declared primary key wins over the name id")
    func markedKeyWins() throws {
        let marks = [
            SyncModel.Attribute("id", .string), SyncModel.Attribute("serialNumber", .string, isPrimaryKey: true),
        ]
        #expect(try key(SyncModel.Entity("A", attributes: marks), of: "A") == ["serialNumber", "serial_number"])
        let declared = SyncModel.Entity("A", primaryKey: "takenAt", attributes: [SyncModel.Attribute("takenAt", .date)])
        #expect(try key(declared, of: "A") == ["takenAt", "taken_at"])
    }

    @Test("The remote key of the attribute names the primary key in JSON")
    func remoteKeyNamesPrimaryKey() throws {
        let id = SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .string, remoteKey: "_id")])
        #expect(try key(id, of: "A") == ["id", "_id"])
        let marked = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("code", .string, remoteKey: "Code", isPrimaryKey: true)])
        #expect(try key(marked, of: "A") == ["code", "Code"])
    }

    @Test("A primary key is inherited, or declared below a keyless parent")
    func inheritsPrimaryKey() throws {
        let parent = SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .integer)])
        let child = SyncModel.Entity("B", parent: "A", attributes: [SyncModel.Attribute("name", .string)])
        #expect(try key(parent, child, of: "B") == ["id", "id"])
        let keyless = SyncModel.Entity("A", attributes: [SyncModel.Attribute("name", .string)])
        let keyed = SyncModel.Entity(
            "B", parent: "A", attributes: [SyncModel.Attribute("remoteID", .integer, isPrimaryKey: true)])
        #expect(try key(keyless, keyed, of: "A") == nil)
        #expect(try key(keyless, keyed, of: "B") == ["remoteID", "id"])
    }

    @Test("An entity without an attribute that identifies rows has no primary key")
    func hasNoKeyWithoutCandidate() throws {
        #expect(try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("name", .string)]), of: "A") == nil)
        #expect(try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .boolean)]), of: "A") == nil)
        #expect(try key(SyncModel.Entity("A"), of: "A") == nil)
    }

    @Test("The first to-one relationship to the entity itself is the scope of a root-level sync")
    func rootScopeIsFirstSelfRelationship() throws {
        let tree = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("id", .integer)],
            relationships: [
                SyncModel.Relationship("children", to: "A", many: true, inverse: "parent"),
                SyncModel.Relationship("parent", to: "A", inverse: "children"),
                SyncModel.Relationship("other", to: "A"),
            ])
        #expect(try SyncModel(entities: [tree]).compiled.entity(named: "A").rootScope?.name == "parent")
        #expect(try SyncModel(entities: [SyncModel.Entity("B")]).compiled.entity(named: "B").rootScope?.name == nil)
    }
}
