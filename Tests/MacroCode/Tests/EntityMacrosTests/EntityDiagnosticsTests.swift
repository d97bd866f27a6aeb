import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import Testing

@testable import EntityMacros

@Suite("Diagnostics of @Entity")
struct EntityDiagnosticsTests {
    /// Expects one diagnostic with its fix-its. The source after each fix-it must have no diagnostics.
    private func expect(
        _ source: String, says message: String, fixes: [String: String] = [:], afterFix rest: [String] = [],
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let found = try diagnostics(of: source)
        #expect(found.map(\.message) == [message], sourceLocation: sourceLocation)
        let fixIts = found.flatMap(\.fixIts)
        #expect(Set(fixIts.map(\.message.message)) == Set(fixes.keys), sourceLocation: sourceLocation)
        for fixIt in fixIts {
            let mended = Self.applied(fixIt, to: source)
            #expect(mended == fixes[fixIt.message.message], sourceLocation: sourceLocation)
            #expect(try diagnostics(of: mended).map(\.message) == rest, sourceLocation: sourceLocation)
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

    @Test("A keyless type with a property that would be the primary key has a diagnostic")
    func keylessTypeWithKey() throws {
        for (property, name) in [
            ("var id: Int", "id"), ("var remoteID: String?", "remoteID"), ("@PrimaryKey var nr: Int", "nr"),
        ] {
            try expect(
                "@Entity(isKeyless: true) struct Phone { \(property) }",
                says: "'Phone' is keyless, but '\(name)' would be its primary key: remove one of the two")
        }
        #expect(try diagnostics(of: "@Entity(isKeyless: true) struct Phone { var id: Bool? }").isEmpty)
    }

    @Test("A type without a primary key has a diagnostic")
    func missingPrimaryKey() throws {
        try expect(
            "@Entity struct User {\n    var name: String\n}",
            says:
                "'User' has no primary key: mark a property with '@PrimaryKey', or name it 'id' or 'remoteID'",
            fixes: [
                "mark 'name' as the primary key": "@Entity struct User {\n    @PrimaryKey var name: String\n}",
                "add 'var id: Int'": "@Entity struct User {\n    var id: Int\n    var name: String\n}",
            ])
        #expect(try diagnostics(of: "@Entity(isKeyless: true) struct Phone {\n    var number: String\n}").isEmpty)
        try expect(
            #"@Entity(primaryKey: ["id", "nr"]) struct Line { var id: Int }"#,
            says: "the primary key names 'nr', which is not a property")
    }

    @Test(
        "A property of a type that no row can store has a diagnostic",
        arguments: [
            ("(Int) -> Void", "a function"), ("(Int, Int)", "a tuple"), ("Any", "'Any'"), ("any Error", "'any Error'"),
            ("[Character]", "'Character'"), ("User.Type", "a metatype"), ("UInt64?", "'UInt64'"),
        ])
    func unstorableType(type: String, what: String) throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    var other: \(type)\n}",
            says: "'other' cannot be stored: \(what) is neither a column type nor a JSON type",
            fixes: [
                "exclude it from the rows with '@Transient'":
                    "@Entity struct User {\n    var id: Int\n    @Transient var other: \(type)\n}"
            ],
            afterFix: type.hasSuffix("?")
                ? [] : ["'other' needs an initial value, because rows do not have the property"])
    }

    @Test("A property whose type is not written has a diagnostic")
    func unwrittenType() throws {
        try expect(
            "@Entity struct User {\n    var id = 0\n    var day = today()\n}",
            says: "'day' needs a type annotation to become an attribute",
            fixes: [
                "add a type, such as ': String'":
                    "@Entity struct User {\n    var id = 0\n    var day: String = today()\n}"
            ])
    }

    @Test("A property with a reserved name has a diagnostic")
    func reservedName() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    var sync_state: String?\n}",
            says: "'sync_state' is not a valid property name: names that begin with 'sync_' or 'sqlite_' are reserved",
            fixes: [
                "rename it to 'stateValue' and read it from 'sync_state'":
                    "@Entity struct User {\n    var id: Int\n    @RemoteKey(\"sync_state\") var stateValue: String?\n}"
            ])
        try expect(
            "@Entity struct User {\n    var id: Int\n    var syncKey: String?\n}",
            says: "'syncKey' is not a valid property name: '@Entity' adds a member with this name",
            fixes: [
                "rename it to 'syncKeyValue' and read it from 'syncKey'":
                    "@Entity struct User {\n    var id: Int\n    @RemoteKey(\"syncKey\") var syncKeyValue: String?\n}"
            ])
    }

    @Test("A transient property without an initial value has a diagnostic")
    func transientWithoutValue() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Transient var cache: [Int]\n}",
            says: "'cache' needs an initial value, because rows do not have the property")
        let valid = "@Transient var a: Int?; @Transient var b = 1; @Transient var c: Int { 2 }"
        #expect(try diagnostics(of: "@Entity struct User { var id: Int; \(valid) }").isEmpty)
    }

    @Test("An inverse that does not lead back has a diagnostic")
    func inverseOfAnotherType() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship(inverse: \\Tag.user) var notes: [Note]\n}",
            says: "the inverse of 'notes' must be a property of Note, not of Tag",
            fixes: [
                "use a key path of Note":
                    "@Entity struct User {\n    var id: Int\n    @Relationship(inverse: \\Note.user) var notes: [Note]\n}"
            ])
    }

    @Test("A relationship of another shape or with an initial value has a diagnostic")
    func unsuitableRelationship() throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship var boss: User\n}",
            says: "the relationship 'boss' has the type User: use 'Type?' for one row and '[Type]' for several",
            fixes: [
                "make it 'User?'": "@Entity struct User {\n    var id: Int\n    @Relationship var boss: User?\n}"
            ])
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship var notes: [Note] = []\n}",
            says: "the relationship 'notes' must not have an initial value",
            fixes: [
                "remove the initial value":
                    "@Entity struct User {\n    var id: Int\n    @Relationship var notes: [Note]\n}"
            ])
    }

    @Test(
        "A relationship of a basic type has a diagnostic",
        arguments: [
            "String?", "String", "[Int]", "Date", "[UUID]?", "Array<Double>", "Optional<URL>", "Foundation.Data?",
        ])
    func basicRelationship(type: String) throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    @Relationship(ordered: true) var other: \(type)\n}",
            says: "the relationship 'other' has the type \(type), which is not an entity: remove '@Relationship'",
            fixes: ["remove '@Relationship'": "@Entity struct User {\n    var id: Int\n    var other: \(type)\n}"])
    }

    @Test(
        "A relationship that is an optional list, or a list of optional rows, has a diagnostic",
        arguments: ["[Note]?", "[Note?]", "Optional<[Note]>", "Array<Note>?"])
    func nestedList(type: String) throws {
        func code(_ type: String) -> String {
            "@Entity struct User {\n    var id: Int\n    @Relationship var notes: \(type)\n}"
        }
        try expect(
            code(type),
            says: "the relationship 'notes' has the type \(type): use 'Type?' for one row and '[Type]' for several",
            fixes: ["make it '[Note]'": code("[Note]")])
    }

    @Test("A relationship of a basic type keeps its other macros and lines when its macro is removed")
    func basicRelationshipWithOtherMacros() throws {
        try expect(
            """
            @Entity struct User {
                var id: Int
                /// The name.
                @Sync.Relationship
                @RemoteKey("a") var name: String?
            }
            """,
            says: "the relationship 'name' has the type String?, which is not an entity: remove '@Relationship'",
            fixes: [
                "remove '@Relationship'": """
                @Entity struct User {
                    var id: Int
                    /// The name.
                    @RemoteKey("a") var name: String?
                }
                """
            ])
    }

    @Test(
        "A property that is a set has a diagnostic",
        arguments: [
            ("var tags: Set<String>", "var tags: [String]", "[String]"),
            ("var tags: Set<String>? = nil", "var tags: [String]? = nil", "[String]"),
            ("var tags: [Swift.Set<Int>]", "var tags: [[Int]]", "[Int]"),
            ("@Relationship var tags: Set<Tag>", "@Relationship var tags: [Tag]", "[Tag]"),
            ("@Relationship var tags: Set<Tag>?", "@Relationship var tags: [Tag]", "[Tag]"),
        ])
    func set(property: String, mended: String, array: String) throws {
        try expect(
            "@Entity struct User {\n    var id: Int\n    \(property)\n}",
            says: "'tags' cannot be a set, because a set has no order: use '\(array)'",
            fixes: ["use '\(array)'": "@Entity struct User {\n    var id: Int\n    \(mended)\n}"])
    }

    @Test("A set with '@Transient' and a dictionary have no diagnostic")
    func transientSet() throws {
        #expect(
            try diagnostics(
                of: "@Entity struct A { var id: Int; @Transient var marked: Set<Int> = []; var counts: [String: Int] }"
            ).isEmpty)
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
                "remove this '@RemoteKey'": """
                @Entity struct User {
                    var id: Int
                    @RemoteKey("a.b") var name: String?
                    var title: String?
                }
                """
            ])
    }

    @Test("A type with both 'id' and 'remoteID' has the key 'id', as a model has")
    func keyOfBothNames() throws {
        let file = Parser.parse(source: "@Entity struct User {\n    var remoteID: Int\n    var id: Int\n}")
        let type = try #require(file.statements.first?.item.as(StructDeclSyntax.self))
        let node = try #require(type.attributes.first?.as(AttributeSyntax.self))
        #expect(try #require(EntityDeclaration(type, node)).keyNames == ["id"])
    }
}
