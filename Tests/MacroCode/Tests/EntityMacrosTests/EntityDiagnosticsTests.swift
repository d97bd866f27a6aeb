import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import Testing

@testable import EntityMacros

@Suite("Diagnostics of @Entity")
struct EntityDiagnosticsTests {
    /// Expects one diagnostic with its fix-its. The source after each fix-it must have no diagnostics.
    private func expect(
        _ source: String, says message: String, fixes: [String: String] = [:],
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let found = try diagnostics(of: source)
        #expect(found.map(\.message) == [message], sourceLocation: sourceLocation)
        let fixIts = found.flatMap(\.fixIts)
        #expect(Set(fixIts.map(\.message.message)) == Set(fixes.keys), sourceLocation: sourceLocation)
        for fixIt in fixIts {
            let mended = Self.applied(fixIt, to: source)
            #expect(mended == fixes[fixIt.message.message], sourceLocation: sourceLocation)
            #expect(try diagnostics(of: mended).isEmpty, sourceLocation: sourceLocation)
        }
    }

    private func diagnostics(of source: String) throws -> [Diagnostic] {
        let file = Parser.parse(source: source)
        let type = try #require(file.statements.first?.item.as(StructDeclSyntax.self))
        let node = try #require(type.attributes.first?.as(AttributeSyntax.self))
        let entity = try #require(EntityDeclaration(type, node))
        return EntityValidator(entity).diagnostics
    }

    private static func applied(_ fixIt: FixIt, to source: String) -> String {
        var bytes = Array(source.utf8)
        for change in fixIt.changes {
            guard case .replace(let old, let new) = change else { continue }
            let range = old.position.utf8Offset..<old.endPosition.utf8Offset
            bytes.replaceSubrange(range, with: Array(new.description.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("A type without a primary key has a diagnostic")
    func missingPrimaryKey() throws {
        try expect(
            "@Entity struct User {\n    var name: String\n}",
            says:
                "'User' has no primary key: no property is marked '@PrimaryKey', and none is called 'id' or 'remoteID'",
            fixes: [
                "mark 'name' as the primary key": "@Entity struct User {\n    @PrimaryKey var name: String\n}",
                "add 'var id: Int'": "@Entity struct User {\n    var id: Int\n    var name: String\n}",
            ])
        #expect(try diagnostics(of: "@Entity(isKeyless: true) struct Phone {\n    var number: String\n}").isEmpty)
        try expect(
            #"@Entity(primaryKey: ["id", "nr"]) struct Line { var id: Int }"#,
            says: "there is no property 'nr' to be a part of the primary key")
    }

    @Test(
        "A property of a type that no row can store has a diagnostic",
        arguments: [
            ("(Int) -> Void", "a function"), ("(Int, Int)", "a tuple"), ("Any", "'Any'"), ("any Error", "'any Error'"),
            ("[Character]", "'Character'"), ("User.Type", "a type of types"), ("UInt64?", "'UInt64'"),
        ])
    func unstorableType(type: String, what: String) throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    var other: \(type)\n}",
            says: "a row cannot keep 'other': \(what) is no value that a column or JSON can have",
            fixes: [
                "keep it out of the rows with '@Transient'":
                    "@Entity struct User {\n    var id: Int\n    @Transient var other: \(type)\n}"
            ])
    }

    @Test("A property whose type is not written has a diagnostic")
    func unwrittenType() throws {
        try expect(
            "@Entity struct User {\n    var id = 0\n    var day = today()\n}",
            says: "the type of 'day' must be written, as an attribute is made of it",
            fixes: [
                "write a type, such as ': String'":
                    "@Entity struct User {\n    var id = 0\n    var day: String = today()\n}"
            ])
    }

    @Test("A property with a reserved name has a diagnostic")
    func reservedName() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    var sync_state: String?\n}",
            says: "'sync_state' cannot be the name of a property here: names that begin so are of the store",
            fixes: [
                "call it 'stateValue', and read it from 'sync_state'":
                    "@Entity struct User {\n    var id: Int\n    @RemoteKey(\"sync_state\") var stateValue: String?\n}"
            ])
        try expect(
            "@Entity struct User {\n    var id: Int\n    var syncKey: String?\n}",
            says: "'syncKey' cannot be the name of a property here: '@Entity' adds a member of this name",
            fixes: [
                "call it 'syncKeyValue', and read it from 'syncKey'":
                    "@Entity struct User {\n    var id: Int\n    @RemoteKey(\"syncKey\") var syncKeyValue: String?\n}"
            ])
    }

    @Test("An inverse that does not lead back has a diagnostic")
    func inverseOfAnotherType() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship(inverse: \\Tag.user) var notes: [Note]\n}",
            says: "the inverse of 'notes' must lead back from Note, and this one is a property of Tag",
            fixes: [
                "lead back from Note":
                    "@Entity struct User {\n    var id: Int\n    @Relationship(inverse: \\Note.user) var notes: [Note]\n}"
            ])
    }

    @Test("A relationship of another shape or with an initial value has a diagnostic")
    func unsuitableRelationship() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship var boss: User\n}",
            says: "'boss' cannot be a relationship as User: one row is 'Type?', several are '[Type]'",
            fixes: [
                "make it 'User?'": "@Entity struct User {\n    var id: Int\n    @Relationship var boss: User?\n}"
            ])
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship var notes: [Note] = []\n}",
            says: "'notes' has no initial value: its rows are those that are loaded, or that are set",
            fixes: ["leave it out": "@Entity struct User {\n    var id: Int\n    @Relationship var notes: [Note]\n}"])
    }

    @Test("A remote key of two properties has a diagnostic")
    func duplicateRemoteKey() throws {
        try expect(
            """
            @Entity struct User {
                var id: Int
                @RemoteKey("a.b") var name: String?
                @RemoteKey("a.b") var title: String?
            }
            """,
            says: "'title' and 'name' have the same remote key 'a.b'",
            fixes: [
                "remove this one": """
                @Entity struct User {
                    var id: Int
                    @RemoteKey("a.b") var name: String?
                    var title: String?
                }
                """
            ])
    }
}
