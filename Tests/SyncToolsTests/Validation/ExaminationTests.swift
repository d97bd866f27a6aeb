import Testing

@testable import SyncCore
@testable import SyncTools

@Suite("An examination")
struct ExaminationTests {
    private func findings(_ kind: SyncExamination.Finding.Kind, _ entities: [SyncModel.Entity]) throws
        -> [SyncExamination.Finding]
    {
        SyncExamination(of: try SyncModel(entities: entities)).findings.filter { $0.kind == kind }
    }

    @Test("of a sound model finds nothing")
    func sound() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("firstName", .string)],
                relationships: [SyncModel.Relationship("notes", to: "Note", many: true, inverse: "user")]),
            SyncModel.Entity(
                "Note", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "notes")]),
        ])
        #expect(SyncExamination(of: model).findings == [])
    }

    @Test("names the attribute and the relationship that read the same key")
    func ambiguousRelationship() throws {
        let found = try findings(
            .ambiguousName,
            [
                SyncModel.Entity(
                    "Note", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("userID", .integer)],
                    relationships: [SyncModel.Relationship("user", to: "User", inverse: nil)]),
                SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)]),
            ])
        #expect(found.map(\.message) == ["the JSON key 'userID' is a name of userID and user"])
        #expect(found.first?.path == "entities.Note")
    }

    @Test("says that a to-many without a way back is many-to-many, and that a to-one needs none")
    func lonely() throws {
        let found = try findings(
            .missingInverse,
            [
                SyncModel.Entity(
                    "User", attributes: [SyncModel.Attribute("id", .integer)],
                    relationships: [
                        SyncModel.Relationship("photos", to: "Photo", many: true),
                        SyncModel.Relationship("avatar", to: "Photo"),
                    ]),
                SyncModel.Entity("Photo", attributes: [SyncModel.Attribute("id", .integer)]),
            ])
        #expect(found.map(\.path) == ["entities.User.relationships.photos"])
    }

    @Test("puts what loses data first")
    func order() {
        let note = SyncExamination.Finding(.missingInverse, entity: nil, path: nil, message: "", advice: "")
        let loss = SyncExamination.Finding(.damage, entity: nil, path: nil, message: "", advice: "")
        #expect(SyncExamination([note, loss]).findings == [loss, note])
        #expect(SyncExamination([loss]).losesData)
        #expect(!SyncExamination([note]).losesData)
    }

    @Test(
        "knows the name most like a key, if one is",
        arguments: [
            ("fist_name", "firstName"), ("lastname", nil), ("firstNames", "firstName"), ("profile.age_", "age"),
            ("xyz", nil), ("note", "notes"), ("gae", "age"), ("frist_name", "firstName"),
        ] as [(String, String?)])
    func nearest(key: String, name: String?) throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("firstName", .string),
                    SyncModel.Attribute("age", .integer),
                ],
                relationships: [SyncModel.Relationship("notes", to: "User", many: true)])
        ])
        let entity = try model.compiled.entity(named: "User")
        var nearest = NearestName(model.compiled)
        let found = nearest.name(like: key, in: entity)
        #expect(found == name)
    }
}
