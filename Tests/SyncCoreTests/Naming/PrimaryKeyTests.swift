import SyncCore
import Testing

@Suite("Primary keys")
struct PrimaryKeyTests {
    /// An entity's key by its local and its remote name.
    private func key(_ entities: Entity..., of name: String) throws -> [String]? {
        try Model(entities: entities).primaryKey(of: name).map { [$0.local, $0.remote] }
    }

    @Test("are attributes called id or remoteID, id first")
    func byName() throws {
        #expect(try key(Entity("A", attributes: [Attribute("remoteID", .integer)]), of: "A") == ["remoteID", "id"])
        #expect(try key(Entity("A", attributes: [Attribute("id", .string)]), of: "A") == ["id", "id"])
        let both = Entity("A", attributes: [Attribute("remoteID", .integer), Attribute("id", .uuid)])
        #expect(try key(both, of: "A") == ["id", "id"])
    }

    @Test("are marked attributes, which beat names")
    func marked() throws {
        let marks = [Attribute("id", .string), Attribute("serialNumber", .string, isPrimaryKey: true)]
        #expect(try key(Entity("A", attributes: marks), of: "A") == ["serialNumber", "serial_number"])
        let declared = Entity("A", primaryKey: "takenAt", attributes: [Attribute("takenAt", .date)])
        #expect(try key(declared, of: "A") == ["takenAt", "taken_at"])
    }

    @Test("are called by their remote key")
    func remoteKey() throws {
        let id = Entity("A", attributes: [Attribute("id", .string, remoteKey: "_id")])
        #expect(try key(id, of: "A") == ["id", "_id"])
        let marked = Entity("A", attributes: [Attribute("code", .string, remoteKey: "Code", isPrimaryKey: true)])
        #expect(try key(marked, of: "A") == ["code", "Code"])
    }

    @Test("are inherited, or declared below a keyless parent")
    func inheritance() throws {
        let parent = Entity("A", attributes: [Attribute("id", .integer)])
        let child = Entity("B", parent: "A", attributes: [Attribute("name", .string)])
        #expect(try key(parent, child, of: "B") == ["id", "id"])
        let keyless = Entity("A", attributes: [Attribute("name", .string)])
        let keyed = Entity("B", parent: "A", attributes: [Attribute("remoteID", .integer, isPrimaryKey: true)])
        #expect(try key(keyless, keyed, of: "A") == nil)
        #expect(try key(keyless, keyed, of: "B") == ["remoteID", "id"])
    }

    @Test("are missing without a candidate that can identify rows")
    func keyless() throws {
        #expect(try key(Entity("A", attributes: [Attribute("name", .string)]), of: "A") == nil)
        #expect(try key(Entity("A", attributes: [Attribute("id", .boolean)]), of: "A") == nil)
        #expect(try key(Entity("A"), of: "A") == nil)
    }

    @Test("and the first to-one relationship to the entity itself decide the scope of a root-level sync")
    func rootScope() throws {
        let tree = Entity(
            "A", attributes: [Attribute("id", .integer)],
            relationships: [
                Relationship("children", to: "A", many: true, inverse: "parent"),
                Relationship("parent", to: "A", inverse: "children"), Relationship("other", to: "A"),
            ])
        #expect(try Model(entities: [tree]).rootScope(of: "A") == "parent")
        #expect(try Model(entities: [Entity("B")]).rootScope(of: "B") == nil)
    }
}
