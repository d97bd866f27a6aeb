import Foundation
import SyncCore
import Testing

@Suite("Core Data models")
struct CoreDataModelTests {
    /// Returns the attribute that this element declares.
    private func attribute(_ element: String) throws -> SyncModel.Attribute {
        let model = try SyncModel(coreDataElements: "<entity name=\"A\">\(element)</entity>")
        return try #require(model.entities.first?.attributes.first)
    }

    @Test(
        "Core Data types are converted to attribute types",
        arguments: [
            ("Integer 16", AttributeType.integer), ("Integer 32", .integer), ("Integer 64", .integer),
            ("Double", .double), ("Float", .double), ("Decimal", .decimal), ("Boolean", .boolean), ("String", .string),
            ("Date", .date), ("UUID", .uuid), ("URI", .url), ("Binary", .json), ("Undefined", .json),
            ("Transformable", .transformable),
        ])
    func convertsTypes(name: String, type: AttributeType) throws {
        let found = try attribute("<attribute name=\"x\" optional=\"YES\" attributeType=\"\(name)\"/>")
        #expect(found == SyncModel.Attribute("x", type, sourceType: name))
    }

    @Test("A Core Data attribute without a type has the type json")
    func untypedAttributeIsJSON() throws {
        #expect(try attribute("<attribute name=\"x\" optional=\"YES\"/>").type == .json)
    }

    @Test("The user info key fingerprints of earlier versions is ignored", arguments: ["sync", "hyper"])
    func ignoresFingerprints(_ prefix: String) throws {
        let model = try SyncModel(
            coreDataElements: """
                <entity name="A"><attribute name="id" attributeType="Integer 64"/>
                <userInfo><entry key="\(prefix).fingerprints" value="YES"/></userInfo></entity>
                """)
        #expect(model.entity(named: "A")?.attributes.map(\.name) == ["id"])
    }

    @Test("A Core Data attribute is optional only if the model says YES")
    func readsOptionality() throws {
        #expect(try attribute("<attribute name=\"x\" optional=\"YES\" attributeType=\"Date\"/>").isOptional)
        #expect(try !attribute("<attribute name=\"x\" optional=\"NO\" attributeType=\"Date\"/>").isOptional)
        #expect(try !attribute("<attribute name=\"x\" attributeType=\"Date\"/>").isOptional)
    }

    @Test(
        "Default values of a Core Data model are read from text",
        arguments: [
            ("Integer 32", "-7", StoredValue.integer(-7)), ("Double", "0.0", .double(0)),
            ("Float", "1.5", .double(1.5)),
            ("Decimal", "0.10", .decimal(Decimal(sign: .plus, exponent: -1, significand: 1))),
            ("Boolean", "YES", .boolean(true)), ("Boolean", "NO", .boolean(false)),
            ("String", "a &amp; b", .string("a & b")),
            ("String", "", .string("")), ("URI", "https://example.org", .url("https://example.org")),
        ])
    func defaults(type: String, text: String, value: StoredValue) throws {
        let found = try attribute("<attribute name=\"x\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(found.defaultValue == value)
    }

    @Test("Default dates of a Core Data model are seconds since 2001")
    func readsDefaultDates() throws {
        let found = try attribute(
            "<attribute name=\"x\" attributeType=\"Date\" defaultDateTimeInterval=\"86400.5\"/>")
        #expect(found.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 86400.5)))
        #expect(found.defaultValue == .date(Date(timeIntervalSince1970: 978_393_600.5)))
    }

    @Test(
        "The user info of a Core Data model configures the mapping",
        arguments: [
            ("sync.isPrimaryKey=YES", SyncModel.Attribute("x", .string, isPrimaryKey: true)),
            ("sync.isPrimaryKey=true", SyncModel.Attribute("x", .string, isPrimaryKey: true)),
            ("hyper.isPrimaryKey=YES", SyncModel.Attribute("x", .string, isPrimaryKey: true)),
            ("sync.isPrimaryKey=NO", SyncModel.Attribute("x", .string)),
            ("sync.isPrimaryKey=1", SyncModel.Attribute("x", .string)),
            ("sync.isPrimaryKey=yes", SyncModel.Attribute("x", .string)),
            ("isPrimaryKey=YES", SyncModel.Attribute("x", .string)),
            ("sync.remoteKey=a.b", SyncModel.Attribute("x", .string, remoteKey: "a.b")),
            ("hyper.remoteKey=a", SyncModel.Attribute("x", .string, remoteKey: "a")),
            ("sync.remoteKey=", SyncModel.Attribute("x", .string)),
            ("sync.nonExportable=NO", SyncModel.Attribute("x", .string, isExported: false)),
            ("hyper.nonExportable=", SyncModel.Attribute("x", .string, isExported: false)),
            ("sync.valueTransformer=Upper", SyncModel.Attribute("x", .string, transformer: "Upper")),
            ("hyper.valueTransformer=Upper", SyncModel.Attribute("x", .string, transformer: "Upper")),
        ])
    func readsUserInfo(entry: String, expected: SyncModel.Attribute) throws {
        let parts = entry.split(separator: "=", omittingEmptySubsequences: false)
        var found = try attribute(
            """
            <attribute name="x" optional="YES" attributeType="String">
              <userInfo><entry key="unrelated" value="1"/><entry key="\(parts[0])" value="\(parts[1])"/></userInfo>
            </attribute>
            """)
        found.sourceType = nil
        #expect(found == expected)
    }

    @Test("The prefix sync wins over the prefix hyper in the user info")
    func syncPrefixWins() throws {
        let found = try attribute(
            """
            <attribute name="x" attributeType="String"><userInfo>
              <entry key="sync.remoteKey" value="new"/><entry key="hyper.remoteKey" value="old"/>
            </userInfo></attribute>
            """)
        #expect(found.remoteKey == "new")
    }

    @Test("Transformer names are read, except those that only archive")
    func readsTransformers() throws {
        let element = "<attribute name=\"x\" attributeType=\"Transformable\" valueTransformerName"
        #expect(try attribute("\(element)=\"Dates\"/>").transformer == "Dates")
        #expect(try attribute("\(element)=\"NSSecureUnarchiveFromData\"/>").transformer == nil)
    }

    @Test("Former names of entities and properties are read", arguments: ["elementID", "renamingIdentifier"])
    func readsFormerNames(key: String) throws {
        let model = try SyncModel(
            coreDataElements: """
                <entity name="Team" \(key)="Group"><attribute name="title" attributeType="String" \(key)="caption"/>
                <relationship name="lead" destinationEntity="Team" \(key)="head"/></entity>
                """)
        let team = try #require(model.entity(named: "Team"))
        #expect(team.renamedFrom == "Group")
        #expect(team.attributes.map(\.renamedFrom) == ["caption"])
        #expect(team.relationships.map(\.renamedFrom) == ["head"])
    }

    @Test("Entities and relationships of a Core Data model are read")
    func readsEntitiesAndRelationships() throws {
        let model = try SyncModel(
            coreDataElements: """
                <entity name="Team" representedClassName="Team" elementID="Group" syncable="YES">
                  <attribute name="id" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="NO"/>
                  <attribute name="title" optional="YES" attributeType="String" elementID="caption"/>
                  <relationship name="members" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" \
                destinationEntity="Person" inverseName="team" inverseEntity="Person" elementID="people">
                    <userInfo><entry key="sync.remoteKey" value="staff"/></userInfo>
                  </relationship>
                  <relationship name="lead" maxCount="1" deletionRule="Deny" destinationEntity="Person"/>
                  <fetchedProperty name="all"/>
                  <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint>\
                </uniquenessConstraints>
                </entity>
                <entity name="Person" isAbstract="YES">
                  <relationship name="team" optional="YES" maxCount="1" deletionRule="No Action" ordered="YES" \
                destinationEntity="Team" inverseName="members" inverseEntity="Team"/>
                </entity>
                <entity name="Coach" parentEntity="Person"/>
                <elements><element name="Team" positionX="1"/></elements>
                """)
        #expect(
            model.entities == [
                SyncModel.Entity("Coach", parent: "Person"),
                SyncModel.Entity(
                    "Person", isAbstract: true,
                    relationships: [
                        SyncModel.Relationship("team", to: "Team", inverse: "members", deleteRule: .noAction)
                    ]),
                SyncModel.Entity(
                    "Team",
                    attributes: [
                        SyncModel.Attribute(
                            "id", .integer, isOptional: false, defaultValue: .integer(0), sourceType: "Integer 32"),
                        SyncModel.Attribute("title", .string, renamedFrom: "caption", sourceType: "String"),
                    ],
                    relationships: [
                        SyncModel.Relationship(
                            "members", to: "Person", many: true, ordered: true, inverse: "team", deleteRule: .cascade,
                            remoteKey: "staff", renamedFrom: "people"),
                        SyncModel.Relationship("lead", to: "Person", deleteRule: .deny, isOptional: false),
                    ], renamedFrom: "Group"),
            ])
        #expect(try SyncModel(schemaData: model.schemaFile()) == model)
    }
}
