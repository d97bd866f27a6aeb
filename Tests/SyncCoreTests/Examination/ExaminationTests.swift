import Testing

@testable import SyncCore

@Suite("An examination")
struct ExaminationTests {
    private func findings(_ kind: Finding.Kind, _ entities: [Entity]) throws -> [Finding] {
        Examination(of: try Model(entities: entities)).findings.filter { $0.kind == kind }
    }

    @Test("of a sound model finds nothing")
    func sound() throws {
        let model = try Model(entities: [
            Entity(
                "User", attributes: [Attribute("id", .integer), Attribute("firstName", .string)],
                relationships: [Relationship("notes", to: "Note", many: true, inverse: "user")]),
            Entity(
                "Note", attributes: [Attribute("id", .integer)],
                relationships: [Relationship("user", to: "User", inverse: "notes")]),
        ])
        #expect(Examination(of: model).findings == [])
    }

    @Test("names the attribute and the relationship that read the same key")
    func ambiguousRelationship() throws {
        let found = try findings(
            .ambiguousName,
            [
                Entity(
                    "Note", attributes: [Attribute("id", .integer), Attribute("userID", .integer)],
                    relationships: [Relationship("user", to: "User", inverse: nil)]),
                Entity("User", attributes: [Attribute("id", .integer)]),
            ])
        #expect(found.map(\.message) == ["the JSON key 'userID' is a name of userID and user"])
        #expect(found.first?.path == "entities.Note")
    }

    @Test("says that a to-many without a way back is many-to-many, and that a to-one needs none")
    func lonely() throws {
        let found = try findings(
            .missingInverse,
            [
                Entity(
                    "User", attributes: [Attribute("id", .integer)],
                    relationships: [
                        Relationship("photos", to: "Photo", many: true), Relationship("avatar", to: "Photo"),
                    ]),
                Entity("Photo", attributes: [Attribute("id", .integer)]),
            ])
        #expect(found.map(\.path) == ["entities.User.relationships.photos"])
    }

    @Test("puts what loses data first")
    func order() {
        let note = Finding(.missingInverse, entity: nil, path: nil, message: "", advice: "")
        let loss = Finding(.damage, entity: nil, path: nil, message: "", advice: "")
        #expect(Examination([note, loss]).findings == [loss, note])
        #expect(Examination([loss]).losesData)
        #expect(!Examination([note]).losesData)
    }

    @Test(
        "knows the name most like a key, if one is",
        arguments: [
            ("fist_name", "firstName"), ("lastname", nil), ("firstNames", "firstName"), ("profile.age_", "age"),
            ("xyz", nil), ("note", "notes"),
        ] as [(String, String?)])
    func nearest(key: String, name: String?) throws {
        let model = try Model(entities: [
            Entity(
                "User",
                attributes: [Attribute("id", .integer), Attribute("firstName", .string), Attribute("age", .integer)],
                relationships: [Relationship("notes", to: "User", many: true)])
        ])
        let entity = try model.compiled.entity(named: "User")
        var nearest = NearestName(model.compiled)
        let found = nearest.name(like: key, in: entity)
        #expect(found == name)
    }
}
