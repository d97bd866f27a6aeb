import SyncCore
import Testing

@Suite("Relationships are checked")
struct RelationshipValidationTests {
    @Test("for inverses that do not lead back")
    func inverses() throws {
        func problems(_ a: Relationship, _ b: Relationship...) throws -> [String] {
            try ModelProblems.paths([Entity("A", relationships: [a]), Entity("B", relationships: b), Entity("C")])
        }
        let unknown = try problems(Relationship("b", to: "B", inverse: "x"))
        #expect(unknown == ["entities.A.relationships.b.inverse"])
        let elsewhere = try problems(Relationship("b", to: "B", inverse: "a"), Relationship("a", to: "C"))
        #expect(elsewhere == ["entities.A.relationships.b.inverse"])
        let other = try problems(
            Relationship("b", to: "B", inverse: "a"), Relationship("a", to: "A", inverse: "c"),
            Relationship("c", to: "B", inverse: "c"))
        #expect(other == ["entities.A.relationships.b.inverse", "entities.B.relationships.a.inverse"])
        let nowhere = try problems(Relationship("b", to: "D", inverse: "a"))
        #expect(nowhere == ["entities.A.relationships.b.entity"])
    }

    @Test("for inverses that two relationships name")
    func contested() throws {
        let entities = [
            Entity(
                "A",
                relationships: [Relationship("b", to: "B", inverse: "a"), Relationship("c", to: "B", inverse: "a")]),
            Entity("B", relationships: [Relationship("a", to: "A", many: true)]),
        ]
        #expect(
            try ModelProblems.paths(entities) == [
                "entities.A.relationships.b.inverse", "entities.A.relationships.c.inverse",
            ])
    }

    @Test("and get the inverses that one side leaves out")
    func completion() throws {
        let model = try Model(entities: [
            Entity("Note", relationships: [Relationship("owner", to: "Party", inverse: "notes")]),
            Entity("Party", relationships: [Relationship("notes", to: "Note", many: true)]),
            Entity(
                "User", parent: "Party",
                relationships: [Relationship("friends", to: "User", many: true, inverse: "friends")]),
            Entity("Lone", relationships: [Relationship("users", to: "User", many: true)]),
        ])
        #expect(model.entity(named: "Party")?.relationships.first?.inverse == "owner")
        #expect(model.entity(named: "User")?.relationships.first?.inverse == "friends")
        #expect(model.entity(named: "Lone")?.relationships.first?.inverse == nil)
    }

    @Test("for relationships that cannot be as they are declared")
    func relationships() throws {
        let entity = Entity(
            "A",
            relationships: [
                Relationship("b", to: "B"), Relationship("c", to: "A", ordered: true),
                Relationship("d", to: "A", remoteKey: ""),
            ])
        #expect(
            try ModelProblems.paths([entity]) == [
                "entities.A.relationships.b.entity", "entities.A.relationships.c.ordered",
                "entities.A.relationships.d.remoteKey",
            ])
    }
}
