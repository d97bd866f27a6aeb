import SyncCore
import Testing

@Suite("Relationship validation")
struct RelationshipValidationTests {
    @Test("Inverses that do not lead back are rejected")
    func rejectsMismatchedInverses() throws {
        func problems(_ a: SyncModel.Relationship, _ b: SyncModel.Relationship...) throws -> [String] {
            try ModelProblems.paths([
                SyncModel.Entity("A", relationships: [a]), SyncModel.Entity("B", relationships: b),
                SyncModel.Entity("C"),
            ])
        }
        let unknown = try problems(SyncModel.Relationship("b", to: "B", inverse: "x"))
        #expect(unknown == ["entities.A.relationships.b.inverse"])
        let elsewhere = try problems(
            SyncModel.Relationship("b", to: "B", inverse: "a"), SyncModel.Relationship("a", to: "C"))
        #expect(elsewhere == ["entities.A.relationships.b.inverse"])
        let other = try problems(
            SyncModel.Relationship("b", to: "B", inverse: "a"), SyncModel.Relationship("a", to: "A", inverse: "c"),
            SyncModel.Relationship("c", to: "B", inverse: "c"))
        #expect(other == ["entities.A.relationships.b.inverse", "entities.B.relationships.a.inverse"])
        let nowhere = try problems(SyncModel.Relationship("b", to: "D", inverse: "a"))
        #expect(nowhere == ["entities.A.relationships.b.entity"])
    }

    @Test("An inverse that two relationships name is rejected")
    func rejectsSharedInverses() throws {
        let entities = [
            SyncModel.Entity(
                "A",
                relationships: [
                    SyncModel.Relationship("b", to: "B", inverse: "a"),
                    SyncModel.Relationship("c", to: "B", inverse: "a"),
                ]),
            SyncModel.Entity("B", relationships: [SyncModel.Relationship("a", to: "A", many: true)]),
        ]
        #expect(
            try ModelProblems.paths(entities) == [
                "entities.A.relationships.b.inverse", "entities.A.relationships.c.inverse",
            ])
    }

    @Test("A missing inverse is completed from the other side")
    func completesInverses() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity("Note", relationships: [SyncModel.Relationship("owner", to: "Party", inverse: "notes")]),
            SyncModel.Entity("Party", relationships: [SyncModel.Relationship("notes", to: "Note", many: true)]),
            SyncModel.Entity(
                "User", parent: "Party",
                relationships: [SyncModel.Relationship("friends", to: "User", many: true, inverse: "friends")]),
            SyncModel.Entity("Lone", relationships: [SyncModel.Relationship("users", to: "User", many: true)]),
        ])
        #expect(model.entity(named: "Party")?.relationships.first?.inverse == "owner")
        #expect(model.entity(named: "User")?.relationships.first?.inverse == "friends")
        #expect(model.entity(named: "Lone")?.relationships.first?.inverse == nil)
    }

    @Test("Relationships with an unknown entity, an invalid order or an empty key are rejected")
    func rejectsInvalidRelationships() throws {
        let entity = SyncModel.Entity(
            "A",
            relationships: [
                SyncModel.Relationship("b", to: "B"), SyncModel.Relationship("c", to: "A", ordered: true),
                SyncModel.Relationship("d", to: "A", remoteKey: ""),
            ])
        #expect(
            try ModelProblems.paths([entity]) == [
                "entities.A.relationships.b.entity", "entities.A.relationships.c.ordered",
                "entities.A.relationships.d.remoteKey",
            ])
    }
}
