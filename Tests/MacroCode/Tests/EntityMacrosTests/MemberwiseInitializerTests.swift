import SwiftParser
import SwiftSyntax
import Testing

@testable import EntityMacros

@Suite("Memberwise initializer of @Entity")
struct MemberwiseInitializerTests {
    private func code(_ source: String) throws -> String? {
        let file = Parser.parse(source: source)
        let type = try #require(file.statements.first?.item.as(StructDeclSyntax.self))
        let node = try #require(type.attributes.first?.as(AttributeSyntax.self))
        return MemberwiseInitializer(try #require(EntityDeclaration(type, node))).code
    }

    /// Returns the line with the parameters.
    private func signature(_ source: String) throws -> String? {
        try code(source)?.split(separator: "\n").map { $0.drop { $0 == " " } }.first { $0.contains("init(") }
            .map(String.init)
    }

    @Test("Parameters have the names of properties, and defaults for initial values and optionals")
    func parameters() throws {
        let source = """
            @Entity struct User {
                let id: Int
                var name: String
                var age = 18
                var email: String?
                @Relationship var department: Department?
                @Relationship var notes: [Note]
                static let maximum = 5
                var shortName: String { name }
            }
            """
        #expect(
            try signature(source)
                == "init(id: Int, name: String, age: Int = 18, email: String? = nil, department: Department? = nil, "
                + "departmentID: Department.SyncKey? = nil, notes: [Note]? = nil) {")
        let code = try #require(try code(source))
        #expect(code.contains("self._department = SyncCore.RelatedRows(department.map { [$0] })"))
        #expect(code.contains("self.departmentID = department?.syncKey ?? departmentID"))
        #expect(code.contains("self._notes = SyncCore.RelatedRows(notes)"))
    }

    @Test("The initializer of a public type is public, and omits properties that are not public and have a value")
    func access() throws {
        #expect(
            try signature("@Entity public struct A { public var id: Int; public var b: B?; var c = 1 }")
                == "public init(id: Int, b: B? = nil) {")
        #expect(
            try signature("@Entity public struct A { public var id: Int; var secret: String }")
                == "init(id: Int, secret: String) {")
        #expect(try signature("@Entity struct A { var id: Int; private var c = 1 }") == "init(id: Int) {")
    }

    @Test("A key property that the type declares is a parameter, and a related row overrides it")
    func declaredKey() throws {
        let code = try #require(
            try code("@Entity struct A { @Relationship var b: B?; var bID: Int?; var id: Int }"))
        #expect(code.contains("init(b: B? = nil, bID: Int? = nil, id: Int) {"))
        let lines = code.split(separator: "\n").map(String.init)
        let key = try #require(lines.firstIndex { $0.contains("self.bID = bID") })
        let row = try #require(lines.firstIndex { $0.contains("if let key = b?.syncKey { self.bID = key }") })
        #expect(key < row)
    }

    @Test("A type that declares an initializer, or a property that the macro cannot read, gets none")
    func none() throws {
        #expect(try code("@Entity struct A { var id: Int; init() { id = 1 } }") == nil)
        #expect(try code("@Entity struct A { var id: Int; var (x, y) = (1, 2) }") == nil)
        #expect(try code("@Entity struct A { var id: Int; lazy var x = 1 }") == nil)
    }

    @Test("A property without a written type keeps its initial value")
    func unwrittenType() throws {
        #expect(try signature("@Entity struct A { var id: Int; var token = UUID() }") == "init(id: Int) {")
    }

    @Test(
        "An initial value that differs each time is no default of the model",
        arguments: [
            ("UUID", "UUID()", false), ("UUID?", ".init()", false), ("Date", "Foundation.Date()", false),
            ("Date", "Date.init()", false), ("Date", ".now", false), ("Date", "Date.now.addingTimeInterval(60)", false),
            ("Int", ".random(in: 1...6)", false), ("String", "UUID().uuidString", false), ("Int", "next()", false),
            ("[UUID]", "[UUID()]", false), ("Int", "{ 3 }()", false), ("Place", "Place(id: UUID())", false),
            ("Int", "-3", true), ("Role", ".guest", true), ("Role", "Role.other(\"x\")", true),
            ("Place", "Place()", true),
            ("Place", ".init(street: \"Elm\")", true), ("[String]", "[String]()", true), ("[Int]", "[1, 2]", true),
            ("URL", "URL(string: \"https://example.com\")!", true), ("Date", "Date(timeIntervalSince1970: 0)", true),
            ("Set<Int>?", "Set<Int>()", true), ("String", "\"now\"", true),
        ])
    func defaultsOfModel(type: String, value: String, isConstant: Bool) throws {
        let source = "@Entity struct A { var id: Int; var a: \(type) = \(value) }"
        let file = Parser.parse(source: source)
        let declaration = try #require(file.statements.first?.item.as(StructDeclSyntax.self))
        let node = try #require(declaration.attributes.first?.as(AttributeSyntax.self))
        let entity = try #require(EntityDeclaration(declaration, node))
        let members = EntityCodeGenerator(entity).members.joined()
        #expect(members.contains("default: \(value)") == isConstant)
        #expect(try signature(source)?.contains("a: \(type) = \(value)") == true)
    }
}
