import Testing

@testable import SyncCore
@testable import SyncTools

@Suite("Validation of models")
struct ValidationTests {
    private func findings(_ kind: SyncDiagnostic.Kind, _ entities: [SyncModel.Entity]) throws
        -> [SyncDiagnostic]
    {
        try SyncModel(entities: entities).validate().filter { $0.kind == kind }
    }

    @Test("A valid model has no findings")
    func validModelHasNoFindings() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("firstName", .string)],
                relationships: [SyncModel.Relationship("notes", to: "Note", many: true, inverse: "user")]),
            SyncModel.Entity(
                "Note", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "notes")]),
        ])
        #expect(model.validate() == [])
    }

    @Test("A key that fills an attribute and a relationship is reported with both")
    func reportsAmbiguousKey() throws {
        let found = try findings(
            .ambiguousKey,
            [
                SyncModel.Entity(
                    "Note", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("userID", .integer)],
                    relationships: [SyncModel.Relationship("user", to: "User", inverse: nil)]),
                SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)]),
            ])
        #expect(found.map(\.message) == ["the JSON key 'userID' matches userID and user"])
        #expect(found.first?.path == "entities.Note")
    }

    @Test("A to-many relationship without an inverse is reported, and a to-one is not")
    func reportsMissingInverse() throws {
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

    @Test("Findings that lose data come first")
    func findingsWithLossComeFirst() {
        let note = SyncDiagnostic(.missingInverse, message: "", suggestion: "")
        let loss = SyncDiagnostic(.integrityViolation, message: "", suggestion: "")
        #expect([note, loss].groupedByKind == [loss, note])
        #expect([loss].losesData)
        #expect(![note].losesData)
    }

    @Test(
        "The name nearest to a key is found, if one is similar",
        arguments: [
            ("fist_name", "firstName"), ("lastname", nil), ("firstNames", "firstName"), ("profile.age_", "age"),
            ("xyz", nil), ("note", "notes"), ("gae", "age"), ("frist_name", "firstName"),
        ] as [(String, String?)])
    func findsNearestName(key: String, name: String?) throws {
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
        var nearest = SimilarNameFinder(model.compiled)
        let found = nearest.name(like: key, in: entity)
        #expect(found == name)
    }
}
