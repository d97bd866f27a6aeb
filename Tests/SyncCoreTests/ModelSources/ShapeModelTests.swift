import Foundation
import SyncCore
import Testing

@Suite("Record layouts in models")
struct ShapeModelTests {
    static let discriminator = SyncModel.Discriminator(
        "meta.type", values: ["dog": "Dog", "Hund": "Dog", "cat": "Cat"], fallback: .parent)

    static func entities() -> [SyncModel.Entity] {
        [
            SyncModel.Entity(
                "Animal", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [
                    SyncModel.Relationship("names", to: "Name", many: true, keyedBy: "language"),
                    SyncModel.Relationship("tags", to: "Tag", many: true, keyedBy: .primaryKey),
                ], resourceType: "beasts", discriminator: discriminator),
            SyncModel.Entity("Cat", parent: "Animal"), SyncModel.Entity("Dog", parent: "Animal"),
            SyncModel.Entity("Name", attributes: [SyncModel.Attribute("language", .string)]),
            SyncModel.Entity("Tag", attributes: [SyncModel.Attribute("id", .string)]),
        ]
    }

    @Test("Record layouts survive a schema file")
    func schemaFileKeepsLayouts() throws {
        let model = try SyncModel(entities: Self.entities())
        #expect(try SyncModel(schemaData: model.schemaFile()) == model)
    }

    @Test("Record layouts are read from the user info of a Core Data model")
    func coreDataModelHasLayouts() throws {
        func info(_ entries: [(String, String)]) -> String {
            "<userInfo>" + entries.map { "<entry key=\"sync.\($0.0)\" value=\"\($0.1)\"/>" }.joined() + "</userInfo>"
        }
        let model = try SyncModel(
            coreDataElements: """
                <entity name="Animal"><attribute name="id" optional="YES" attributeType="Integer 64"/>
                  <relationship name="names" optional="YES" toMany="YES" destinationEntity="Name">
                    \(info([("keyedBy", "language")]))</relationship>
                  <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag">
                    \(info([("keyedBy", "YES")]))</relationship>
                  \(info([("type", "beasts"), ("discriminator", "meta.type"), ("otherwise", "parent")]))</entity>
                <entity name="Cat" parentEntity="Animal">\(info([("kind", "cat")]))</entity>
                <entity name="Dog" parentEntity="Animal">\(info([("kind", "dog, Hund")]))</entity>
                <entity name="Name"><attribute name="language" optional="YES" attributeType="String"/></entity>
                <entity name="Tag"><attribute name="id" optional="YES" attributeType="String"/></entity>
                """)
        let expected = try SyncModel(entities: Self.entities())
        let animal = try #require(model.entity(named: "Animal"))
        #expect(animal.resourceType == "beasts")
        #expect(Set(animal.discriminator?.kinds ?? []) == Set(Self.discriminator.kinds))
        #expect(animal.discriminator?.key == "meta.type")
        #expect(animal.discriminator?.fallback == .parent)
        #expect(animal.relationships.map(\.keyedBy) == expected.entity(named: "Animal")?.relationships.map(\.keyedBy))
    }

    @Test("An invalid discriminator in a Core Data model is rejected")
    func rejectsInvalidDiscriminator() {
        let error = #expect(throws: SyncError.self) {
            try SyncModel(
                coreDataElements: """
                    <entity name="A"><attribute name="id" optional="YES" attributeType="Integer 64"/><userInfo>
                    <entry key="sync.discriminator" value="type"/><entry key="sync.otherwise" value="maybe"/></userInfo>
                    </entity>
                    """)
        }
        #expect(
            error?.problems.map(\.path) == ["entities.A.discriminator.otherwise", "entities.A.discriminator.values"])
    }
}
