import Foundation
import Sync
import Testing

@Suite("Payloads in other shapes than a list")
struct ShapeTests {
    static func model(_ json: String) throws -> SyncModel { try SyncModel(schemaData: Data(json.utf8)) }

    static let countries = """
        {"entities": {
          "Country": {"primaryKey": "iso", "attributes": {"iso": "string", "name": "string"}, "relationships": {
            "names": {"entity": "Name", "many": true, "inverse": "country", "keyedBy": "language"},
            "unions": {"entity": "Union", "many": true, "keyedBy": true}}},
          "Name": {"attributes": {"language": "string", "text": "string"}, "relationships": {"country": {"entity": "Country"}}},
          "Union": {"attributes": {"id": "string", "title": {"type": "string", "optional": false, "default": "-"}}}}}
        """

    @Test("Records as members of an object give the same result on every route")
    func membersOnEveryRoute() async throws {
        var routes = ShapeRoutes(model: try Self.model(Self.countries), entity: "Country")
        routes.options.keyedBy = "iso"
        let (result, stack) = try await routes.sync(
            """
            {"AD": {"name": "Andorra", "names": {"de": {"text": "Andorra"}, "f\\u0072": {"text": "Andorre"}}},
             "AE": {"iso": "AX", "name": 5, "unions": {"un": true, "eu": true}},
             "FR": {"unions": {"un": {"title": "UN"}, "eu": {"title": "EU"}}}}
            """, after: #"{"AD": {"name": "Old", "unions": {"eu": {}}}, "XX": {}}"#)
        #expect(result["Country"].inserted == [.text("AE"), .text("FR")])
        #expect(result["Country"].deleted == [.text("XX")])
        #expect(result.diagnostics.map(\.kind) == [.objectKeyMismatch])
        #expect(result.diagnostics.map(\.path) == [#"["AE"]"#])
        #expect(try await stack.fetch("Name", where: "language == 'fr'").count == 1)
        #expect(
            try await stack.export("Country", where: "iso == 'AE'").first?["unions"]
                == JSONValue(
                    parsing: Data(
                        #"{"eu": {"title": "EU"}, "un": {"title": "UN"}}"#.utf8)))
    }

    @Test("Records as members of an object may be below a key path")
    func membersBelowAKeyPath() async throws {
        var routes = ShapeRoutes(model: try Self.model(Self.countries), entity: "Country")
        routes.options.keyedBy = .primaryKey
        routes.options.keyPath = ["data", "countries"]
        let (result, _) = try await routes.sync(
            #"{"data": {"n": [{"x": {}}], "countries": {"AD": {}, "AE": {}}, "z": 1}, "countries": {"ZZ": {}}}"#)
        #expect(result["Country"].inserted == [.text("AD"), .text("AE")])
    }

    @Test(
        "An error about members of an object names what the key path requires",
        arguments: [
            (#"[{"iso": "AD"}]"#, SyncError.Code.keyPathNotFound, "$", "expected an object with the key 'data'"),
            (#"{"data": 5}"#, .keyPathNotFound, "data", "expected an object with the key 'countries'"),
            (#"{"data": {"n": 1}}"#, .keyPathNotFound, "data", "no key 'countries'; available: 'n'"),
            (
                #"{"data": {"countries": 5}}"#, .recordExpected, "data.countries",
                "expected an object or an array of records, found a number"
            ),
        ])
    func errorNamesWhatTheKeyPathRequires(
        _ text: String, _ code: SyncError.Code, _ path: String, _ message: String
    ) async throws {
        let stack = try DataStack.inMemory(Self.model(Self.countries))
        var options = SyncOptions()
        options.keyedBy = .primaryKey
        options.keyPath = ["data", "countries"]
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(text.utf8), inEntity: "Country", stack: stack, options: options)
        }
        #expect(error?.code == code)
        #expect(error?.path == path)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test("An export as members of an object syncs back without a change")
    func keyedExportIsUnchanged() async throws {
        let stack = try DataStack.inMemory(Self.model(Self.countries))
        var options = SyncOptions()
        options.keyedBy = "iso"
        let json = Data(#"{"AD": {"name": "A", "names": {"de": {"text": "x"}}}, "A\"E": {"name": "B"}}"#.utf8)
        try await Sync.changes(json, inEntity: "Country", stack: stack, options: options)
        var form = ExportOptions()
        form.keyedBy = "iso"
        let text = try self.text(stack, form)
        let value = try JSONValue(parsing: text)
        #expect(
            value["AD"]
                == (try JSONValue(parsing: Data(#"{"name": "A", "names": {"de": {"text": "x"}}, "unions": {}}"#.utf8))))
        #expect(try await Sync.changes(text, inEntity: "Country", stack: stack, options: options).isEmpty)
        form.keyedBy = "name"
        try await Sync.insertOrUpdate(["iso": "X", "name": "A"], inEntity: "Country", stack: stack)
        let error = #expect(throws: SyncError.self) { try self.text(stack, form) }
        #expect(error?.code == .typeMismatch)
        #expect(throws: SyncError.self) { try self.text(stack, form, as: .ndjson) }
        #expect(throws: SyncError.self) { try self.text(stack, ExportOptions(), as: .jsonAPI) }
    }

    private func text(
        _ stack: DataStack, _ options: ExportOptions, as form: PayloadFormat = .json
    ) throws -> Data {
        var text = Data()
        try stack.writeExport("Country", as: form, options: options) { text.append($0) }
        return text
    }

    static let companies = """
        {"entities": {
          "User": {"attributes": {"id": "integer", "name": "string"}, "relationships": {
            "company": {"entity": "Company", "inverse": "users"}, "boss": {"entity": "User"}}},
          "Company": {"attributes": {"id": "integer", "name": "string"}, "relationships": {
            "users": {"entity": "User", "many": true, "deleteRule": "cascade"}}}}}
        """

    @Test("Lists of several entities give the same result on every route, in any order")
    func listsOnEveryRoute() async throws {
        let model = try Self.model(Self.companies)
        let routes = ShapeRoutes(
            model: model, entity: "User", entities: ["users": "User", "data.companies": "Company"],
            options: SyncOptions(scope: .all))
        let before =
            #"{"users": [{"id": 1, "company_id": 7}, {"id": 3, "company_id": 9}], "data": {"companies": [{"id": 7}, {"id": 9}]}}"#
        let users = #""users": [{"id": 1, "company_id": 8, "boss_id": 2}, {"id": 2, "name": "B"}]"#
        let companies = #""data": {"companies": [{"id": 8, "name": "C"}, {"id": 7}]}"#
        for text in ["{\(users), \(companies)}", "{\(companies), \"x\": [{}], \(users)}"] {
            let (result, stack) = try await routes.sync(text, after: before)
            #expect(result["User"].inserted == [.integer(2)])
            #expect(result["User"].deleted == [.integer(3)])
            #expect(result["Company"].deleted == [.integer(9)])
            #expect(result.pendingReferences == [])
            #expect(try await stack.count("User", where: "company.id == 8 AND boss.id == 2") == 1)
        }
    }

    @Test("Unusable lists of several entities are errors and change nothing")
    func unusableListsAreErrors() async throws {
        let stack = try DataStack.inMemory(Self.model(Self.companies))
        func code(_ text: String, _ entities: [String: String]) async -> SyncError.Code? {
            do {
                _ = try await Sync.changes(Data(text.utf8), inEntities: entities, stack: stack)
                return nil
            } catch {
                return (error as? SyncError)?.code
            }
        }
        let both = ["users": "User", "companies": "Company"]
        #expect(await code(#"{"users": []}"#, both) == .keyPathNotFound)
        #expect(await code(#"{"users": [{"id": 1}], "companies": null}"#, both) == .recordExpected)
        #expect(await code(#"{"users": [{"id": 1}], "companies": [{"name": 1}]}"#, both) == .noRecords)
        #expect(await code(#"[]"#, both) == .recordExpected)
        #expect(await code(#"{}"#, [:]) == .invalidOption)
        #expect(await code(#"{"a": {"b": []}}"#, ["a": "User", "a.b": "Company"]) == .invalidOption)
        #expect(await code(#"{"a": []}"#, ["a": "Robot"]) == .unknownEntity)
        #expect(await code(#"{"users": [{"id": 1}], "companies": [{"id": 1}]}"#, both) == nil)
        #expect(try await stack.count("User") == 1)
    }

    @Test("Each list of an inheritance hierarchy deletes rows of its own entity only")
    func listsOfAHierarchy() async throws {
        let model = try Self.model(
            """
            {"entities": {"Animal": {"abstract": true, "attributes": {"id": "integer"}},
              "Dog": {"parent": "Animal"}, "Cat": {"parent": "Animal"}, "Ox": {"parent": "Animal"}}}
            """)
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([["id": 9]], inEntity: "Ox", stack: stack)
        let lists = ["dogs": "Dog", "cats": "Cat"]
        try await Sync.changes(
            Data(#"{"dogs": [{"id": 1}, {"id": 2}], "cats": [{"id": 3}]}"#.utf8), inEntities: lists, stack: stack)
        let result = try await Sync.changes(
            Data(#"{"cats": [{"id": 4}], "dogs": [{"id": 2}]}"#.utf8), inEntities: lists, stack: stack)
        #expect(result["Dog"].deleted == [.integer(1)])
        #expect(result["Cat"].deleted == [.integer(3)])
        #expect(try await stack.count("Ox") == 1)
    }

    @Test("Dictionaries with a document format are an error, because they are a list")
    func dictionariesTakeNoDocumentFormat() async throws {
        let stack = try DataStack.inMemory(Self.model(Self.companies))
        for form in [PayloadFormat.jsonAPI, .graphQL] {
            var options = SyncOptions()
            options.format = form
            let records: [[String: Any]] = [["id": 1]]
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(records, inEntity: "User", stack: stack, options: options)
            }
            #expect(error?.code == .invalidOption)
        }
    }

    @Test("Options that contradict each other are an error")
    func contradictingOptionsAreErrors() async throws {
        let stack = try DataStack.inMemory(Self.model(Self.companies))
        var keyed = SyncOptions()
        keyed.keyedBy = .primaryKey
        keyed.format = .ndjson
        var path = SyncOptions()
        path.format = .jsonAPI
        path.keyPath = ["data"]
        for options in [keyed, path] {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(Data("{}".utf8), inEntity: "User", stack: stack, options: options)
            }
            #expect(error?.code == .invalidOption)
        }
    }
}
