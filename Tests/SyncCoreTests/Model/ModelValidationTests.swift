import Foundation
import SyncCore
import Testing

@Suite("Model validation")
struct ModelValidationTests {
    // MARK: Names

    @Test(
        "Names that tables and columns cannot have are rejected",
        arguments: ["", "a\"b", "a.b", "a\u{0}", "a\nb", "sync_x", "Sync_Model", "sqlite_a", "SQLITE_A", "\u{7F}"])
    func rejectsInvalidNames(name: String) throws {
        func isRefused(_ entity: SyncModel.Entity) throws -> Bool {
            let error = try #require(throws: SyncError.self) { try SyncModel(entities: [entity]) }
            return error.code == .invalidModel && error.problems.count == 1
                && ["must not", "reserved"].contains { error.problems[0].message.contains($0) }
        }
        #expect(try isRefused(SyncModel.Entity(name)))
        #expect(try isRefused(SyncModel.Entity("A", attributes: [SyncModel.Attribute(name, .date)])))
        #expect(try isRefused(SyncModel.Entity("A", relationships: [SyncModel.Relationship(name, to: "A")])))
    }

    @Test("Paths of problems quote unusual names as JSON does")
    func pathsQuoteUnusualNames() throws {
        #expect(try ModelProblems.paths([SyncModel.Entity("a\"b")]) == [#"entities["a\"b"]"#])
        #expect(
            try ModelProblems.paths([SyncModel.Entity("A", attributes: [SyncModel.Attribute("", .date)])]) == [
                #"entities.A.attributes[""]"#
            ])
        #expect(try ModelProblems.paths([SyncModel.Entity("sync_x")]) == ["entities.sync_x"])
    }

    @Test(
        "Unusual names are valid and survive a schema file",
        arguments: ["Ünïcode", "with blank", "select", "1", "syncer", "日本"])
    func acceptsUnusualNames(name: String) throws {
        let model = try SyncModel(entities: [SyncModel.Entity(name, attributes: [SyncModel.Attribute(name, .date)])])
        #expect(try SyncModel(schemaData: model.schemaFile()) == model)
    }

    @Test("Duplicate names are rejected, ignoring case")
    func rejectsDuplicateNames() throws {
        #expect(try ModelProblems.paths([SyncModel.Entity("A"), SyncModel.Entity("A")]) == ["entities.A"])
        #expect(try ModelProblems.paths([SyncModel.Entity("User"), SyncModel.Entity("USER")]) == ["entities.User"])
        let entity = SyncModel.Entity(
            "A",
            attributes: [
                SyncModel.Attribute("x", .date), SyncModel.Attribute("x", .date), SyncModel.Attribute("y", .date),
                SyncModel.Attribute("Y", .date),
            ],
            relationships: [
                SyncModel.Relationship("X", to: "A"), SyncModel.Relationship("z", to: "A"),
                SyncModel.Relationship("z", to: "A"),
            ])
        #expect(
            try ModelProblems.paths([entity]) == [
                "entities.A.attributes.x", "entities.A.attributes.Y", "entities.A.relationships.X",
                "entities.A.relationships.z",
            ])
    }

    @Test("A join table with the name of another table is rejected")
    func rejectsJoinTableNameClash() throws {
        let tags = SyncModel.Relationship("tags", to: "Tag", many: true)
        #expect(
            try ModelProblems.paths([
                SyncModel.Entity("A", relationships: [tags]), SyncModel.Entity("Tag"), SyncModel.Entity("a_TAGS"),
            ])
                == ["entities.A.relationships.tags"])
        #expect(throws: Never.self) {
            try SyncModel(entities: [SyncModel.Entity("A", relationships: [tags]), SyncModel.Entity("Tag")])
        }
    }

    // MARK: Inheritance

    @Test("Unknown parents and inheritance cycles are rejected")
    func rejectsInvalidParents() throws {
        #expect(try ModelProblems.paths([SyncModel.Entity("A", parent: "B")]) == ["entities.A.parent"])
        let circle = [
            SyncModel.Entity("A", parent: "B"), SyncModel.Entity("B", parent: "C"), SyncModel.Entity("C", parent: "A"),
            SyncModel.Entity("D", parent: "A"),
        ]
        #expect(try ModelProblems.paths(circle) == ["entities.A.parent", "entities.B.parent", "entities.C.parent"])
    }

    @Test("Properties that are already inherited are rejected")
    func rejectsRedeclaredProperties() throws {
        let root = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("x", .date)],
            relationships: [SyncModel.Relationship("r", to: "A", many: true)])
        let leaf = SyncModel.Entity(
            "C", parent: "B", attributes: [SyncModel.Attribute("X", .date)],
            relationships: [SyncModel.Relationship("r", to: "A", many: true)])
        #expect(
            try ModelProblems.paths([root, SyncModel.Entity("B", parent: "A"), leaf])
                == ["entities.C.attributes.X", "entities.C.relationships.r"])
    }

    @Test("Siblings that declare one column differently are rejected")
    func rejectsConflictingSiblings() throws {
        func problems(_ left: SyncModel.Attribute, _ right: SyncModel.Attribute) -> [SyncDiagnostic] {
            let entities = [
                SyncModel.Entity("A"), SyncModel.Entity("B", parent: "A", attributes: [left]),
                SyncModel.Entity("C", parent: "A", attributes: [right]),
            ]
            do {
                _ = try SyncModel(entities: entities)
                return []
            } catch { return (error as? SyncError)?.problems ?? [] }
        }
        let plain = SyncModel.Attribute("x", .integer)
        #expect(problems(plain, plain).isEmpty)
        #expect(
            problems(plain, SyncModel.Attribute("x", .integer, isPrimaryKey: true, sourceType: "Integer 16")).isEmpty)
        #expect(
            problems(plain, SyncModel.Attribute("x", .string)).first?.message.hasPrefix("must have the same 'type'")
                ?? false)
        #expect(
            problems(plain, SyncModel.Attribute("x", .integer, remoteKey: "y")).map(\.path) == [
                "entities.C.attributes.x"
            ])
        #expect(problems(plain, SyncModel.Attribute("X", .integer)).map(\.path) == ["entities.C.attributes.X"])
        #expect(problems(plain, SyncModel.Attribute("x", .integer, isOptional: false)).count == 1)
        #expect(problems(plain, SyncModel.Attribute("x", .integer, defaultValue: .integer(1))).count == 1)
    }

    @Test("An abstract entity needs no children")
    func abstractEntityNeedsNoChildren() throws {
        #expect(try SyncModel(entities: [SyncModel.Entity("A", isAbstract: true)]).entities.count == 1)
    }

    // MARK: Keys and defaults

    @Test(
        "Primary keys of types that cannot be keys are rejected", arguments: AttributeType.allCases)
    func rejectsInvalidKeyTypes(type: AttributeType) throws {
        let declared = SyncModel.Entity("A", primaryKey: "x", attributes: [SyncModel.Attribute("x", type)])
        let marked = SyncModel.Entity("A", attributes: [SyncModel.Attribute("x", type, isPrimaryKey: true)])
        if type.canBeKey {
            #expect(try SyncModel(entities: [declared]).primaryKey(of: "A")?.local == "x")
            #expect(try SyncModel(entities: [marked]).primaryKey(of: "A")?.local == "x")
        } else {
            #expect(try ModelProblems.paths([declared]) == ["entities.A.primaryKey"])
            #expect(try ModelProblems.paths([marked]) == ["entities.A.attributes.x.primaryKey"])
        }
    }

    @Test("Two marked attributes form a composite key, and conflicting declarations are rejected")
    func checksSeveralKeys() throws {
        let two = [
            SyncModel.Attribute("x", .date, isPrimaryKey: true), SyncModel.Attribute("y", .date, isPrimaryKey: true),
        ]
        let together = try SyncModel(entities: [SyncModel.Entity("A", attributes: two)])
        #expect(try together.primaryKeyParts(of: "A").map(\.local) == ["x", "y"])
        #expect(
            try ModelProblems.paths([
                SyncModel.Entity("A", primaryKey: "z", attributes: [two[0], SyncModel.Attribute("z", .date)])
            ])
                == ["entities.A.attributes.x.primaryKey"])
        #expect(
            try SyncModel(entities: [SyncModel.Entity("A", primaryKey: "x", attributes: [two[0]])]).entities.count == 1)
        #expect(try ModelProblems.paths([SyncModel.Entity("A", primaryKey: "z")]) == ["entities.A.primaryKey"])
        let inherited = [
            SyncModel.Entity("A", attributes: [SyncModel.Attribute("x", .date)]),
            SyncModel.Entity("B", parent: "A", primaryKey: "x"),
        ]
        #expect(try SyncModel(entities: inherited).primaryKey(of: "B")?.local == "x")
    }

    @Test("Invalid parts of composite keys are rejected")
    func rejectsInvalidKeyParts() throws {
        let number = SyncModel.Attribute("number", .integer)
        func paths(_ key: SyncModel.PrimaryKey, _ relationship: SyncModel.Relationship, _ other: SyncModel.Entity)
            throws -> [String]
        {
            try ModelProblems.paths(
                [SyncModel.Entity("A", primaryKey: key, attributes: [number], relationships: [relationship]), other])
        }
        let keyed = SyncModel.Entity("B", attributes: [SyncModel.Attribute("id", .integer)])
        let path = ["entities.A.primaryKey"]
        #expect(try paths(["b", "number"], SyncModel.Relationship("b", to: "B", many: true), keyed) == path)
        #expect(try paths(["b", "number", "b"], SyncModel.Relationship("b", to: "B"), keyed) == path)
        #expect(try paths(["b", "missing"], SyncModel.Relationship("b", to: "B"), keyed) == path)
        #expect(try paths([], SyncModel.Relationship("b", to: "B"), keyed) == path)
        #expect(try paths(["b"], SyncModel.Relationship("b", to: "B"), SyncModel.Entity("B")) == path)
        #expect(try paths(["b", "number"], SyncModel.Relationship("b", to: "A"), keyed) == path)
        let oneToOne = SyncModel.Entity(
            "B", attributes: [SyncModel.Attribute("id", .integer)],
            relationships: [SyncModel.Relationship("a", to: "A", inverse: "b")])
        #expect(try paths(["b", "number"], SyncModel.Relationship("b", to: "B", inverse: "a"), oneToOne) == path)
        #expect(
            try SyncModel(
                entities: [
                    SyncModel.Entity(
                        "A", primaryKey: ["b"], relationships: [SyncModel.Relationship("b", to: "B", inverse: "a")]),
                    oneToOne,
                ]
            ).primaryKeyParts(of: "A").map(\.remote) == ["b"])
    }

    @Test("Composite keys that contain each other are rejected")
    func rejectsKeyCycles() throws {
        let first = SyncModel.Entity(
            "A", primaryKey: ["b", "x"], attributes: [SyncModel.Attribute("x", .integer)],
            relationships: [SyncModel.Relationship("b", to: "B")])
        let second = SyncModel.Entity(
            "B", primaryKey: ["a", "y"], attributes: [SyncModel.Attribute("y", .integer)],
            relationships: [SyncModel.Relationship("a", to: "A")])
        #expect(try ModelProblems.paths([first, second]) == ["entities.A.primaryKey", "entities.B.primaryKey"])
    }

    @Test("Defaults that the attribute cannot store are rejected")
    func rejectsInvalidDefaults() throws {
        let defaults: [(AttributeType, StoredValue)] = [
            (.integer, .string("1")), (.double, .integer(1)), (.double, .double(.infinity)), (.decimal, .decimal(.nan)),
            (.string, .url("a")), (.url, .url("a b")), (.date, .date(Date(timeIntervalSince1970: 1e15))),
            (.json, .json(.number("one"))), (.transformable, .string("a")), (.binary, .string("AA==")),
        ]
        for (type, value) in defaults {
            let entity = SyncModel.Entity("A", attributes: [SyncModel.Attribute("x", type, defaultValue: value)])
            #expect(try ModelProblems.paths([entity]) == ["entities.A.attributes.x.default"], "\(type) \(value)")
        }
    }

    @Test("Defaults are normalized to their stored form")
    func normalizesDefaults() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "A",
                attributes: [
                    SyncModel.Attribute("x", .date, defaultValue: .date(Date(timeIntervalSince1970: 1.000_4))),
                    SyncModel.Attribute("y", .json, defaultValue: .json(["b": 1, "a": .number("2.50")])),
                    SyncModel.Attribute("z", .string, defaultValue: .null),
                    SyncModel.Attribute("w", .double, defaultValue: .double(-0.0)),
                ])
        ])
        #expect(
            model.entities[0].attributes.map(\.defaultValue)
                == [.date(Date(timeIntervalSince1970: 1)), .json(["a": 2.5, "b": 1]), nil, .double(0)])
        #expect(try SyncModel(schemaData: model.schemaFile()) == model)
    }

    @Test("All problems of a model are reported together")
    func reportsAllProblems() throws {
        let error = try #require(throws: SyncError.self) {
            try SyncModel(entities: [
                SyncModel.Entity(
                    "User", parent: "Nobody", attributes: [SyncModel.Attribute("a", .date, defaultValue: .integer(1))]),
                SyncModel.Entity(
                    "sqlite_x", primaryKey: "id", relationships: [SyncModel.Relationship("r", to: "Nothing")]),
            ])
        }
        #expect(
            error.problems.map(\.path) == [
                "entities.sqlite_x", "entities.User.parent", "entities.User.attributes.a.default",
                "entities.sqlite_x.primaryKey", "entities.sqlite_x.relationships.r.entity",
            ])
        #expect(error.message == "the model has 5 problems")
    }
}
