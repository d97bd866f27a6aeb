import Foundation
import Sync
import SyncTools
import Testing

@Suite("JSON:API, GraphQL and discriminators")
struct DocumentFormatTests {
    static let blog = """
        {"entities": {
          "Article": {"attributes": {"id": "integer", "title": "string", "address": {"type": "string", "remoteKey": "links.self"}},
            "relationships": {
              "author": {"entity": "Person", "inverse": "articles"},
              "comments": {"entity": "Comment", "many": true, "inverse": "article", "deleteRule": "cascade"},
              "tags": {"entity": "Tag", "many": true, "ordered": true}}},
          "Person": {"attributes": {"id": "integer", "name": "string"}, "relationships": {"articles": {"entity": "Article", "many": true}}},
          "Comment": {"attributes": {"id": "integer", "body": "string"}, "relationships": {"article": {"entity": "Article"}}},
          "Tag": {"type": "labels", "attributes": {"id": "string"}}}}
        """

    private func routes(_ form: PayloadFormat) throws -> ShapeRoutes {
        var routes = ShapeRoutes(model: try ShapeTests.model(Self.blog), entity: "Article")
        routes.options.format = form
        return routes
    }

    @Test("A JSON:API document gives the same result on every route, in any order of its members")
    func jsonAPIOnEveryRoute() async throws {
        let data = """
            "data": [
              {"type": "articles", "id": "1", "attributes": {"title": "A"}, "links": {"self": "x"}, "relationships": {
                "author": {"data": {"type": "people", "id": "1"}},
                "comments": {"data": [{"type": "comments", "id": "1"}, {"type": "comments", "id": "2"}]},
                "tags": {"data": [{"type": "labels", "id": "b"}, {"type": "labels", "id": "a"}]}}},
              {"type": "articles", "id": "2", "relationships": {"author": {"links": {}}, "tags": {"data": []}}},
              {"type": "robots", "id": "1"}]
            """
        let included = """
            "included": [{"type": "people", "id": "1", "attributes": {"name": "Ann"}},
              {"type": "comments", "id": "1", "attributes": {"body": "First"}}, {"type": "comments", "id": "2"},
              {"type": "labels", "id": "a"}, {"type": "labels", "id": "b"}]
            """
        for text in ["{\(data), \(included)}", "{\(included), \"meta\": {\"data\": []}, \(data)}"] {
            let (result, stack) = try await routes(.jsonAPI).sync(
                text,
                after: #"{"data": [{"type": "articles", "id": "9"}], "included": [{"type": "comments", "id": "9"}]}"#)
            #expect(result["Article"].inserted == [.integer(1), .integer(2)])
            #expect(result["Article"].deleted == [.integer(9)])
            #expect(result["Comment"].deleted == [])
            #expect(result.pendingReferences == [])
            #expect(result.diagnostics.map(\.path) == ["data[2]"])
            let article = try await stack.export("Article", where: "id == 1")[0]
            #expect(article["author"]?["name"] == "Ann")
            #expect(article["tags"] == [["id": "b"], ["id": "a"]])
            #expect(article["links"] == ["self": "x"])
        }
    }

    @Test("JSON:API attributes take precedence over members of the protocol, in any order")
    func attributesTakePrecedence() async throws {
        let model = #"{"entities": {"Post": {"attributes": {"id": "integer", "meta": "json", "links": "json"}}}}"#
        var routes = ShapeRoutes(model: try ShapeTests.model(model), entity: "Post")
        routes.options.format = .jsonAPI
        let own = #""links": {"self": "x"}, "meta": {"by": 2}"#
        let attributes = #""attributes": {"links": ["mine"], "meta": {"by": 1}}"#
        for members in ["\(own), \(attributes)", "\(attributes), \(own)"] {
            let (_, stack) = try await routes.sync(
                "{\"data\": [{\"type\": \"posts\", \"id\": \"1\", \(members)}]}")
            let post = try await stack.export("Post")[0]
            #expect(post["links"] == ["mine"])
            #expect(post["meta"] == ["by": 1])
        }
    }

    @Test(
        "A JSON:API primary key is read from its remote key, whatever its name is",
        arguments: ["id", "remoteID", "num"], [["r0", "r1"], ["10", "20"], ["2", "1"]])
    func remoteKeyOfResources(_ key: String, _ ids: [String]) async throws {
        let model = """
            {"entities": {"Part": {"primaryKey": "\(key)",
              "attributes": {"\(key)": {"type": "integer", "remoteKey": "ident"}, "name": "string"},
              "relationships": {"next": {"entity": "Part"}}}}}
            """
        var routes = ShapeRoutes(model: try ShapeTests.model(model), entity: "Part")
        routes.options.format = .jsonAPI
        let (result, stack) = try await routes.sync(
            """
            {"data": [{"type": "parts", "id": "\(ids[0])", "attributes": {"ident": 1, "name": "a"},
                "relationships": {"next": {"data": {"type": "parts", "id": "\(ids[1])"}}}},
              {"attributes": {"ident": 2}, "id": "\(ids[1])", "type": "parts"}]}
            """)
        #expect(result["Part"].inserted == [.integer(1), .integer(2)])
        #expect(result.diagnostics == [])
        #expect(result.unmappedKeys == [])
        let first = try #require(try await stack.fetch("Part", id: 1))
        #expect(first["name"] == .string("a"))
        #expect(try await stack.count("Part", where: "next == 2") == 1)
    }

    @Test("A JSON:API resource without its remote key has no primary key, even if the key is named id")
    func resourceWithoutRemoteKey() async throws {
        let model = #"{"entities": {"Part": {"attributes": {"id": {"type": "integer", "remoteKey": "ident"}}}}}"#
        var routes = ShapeRoutes(model: try ShapeTests.model(model), entity: "Part")
        routes.options.format = .jsonAPI
        let (result, _) = try await routes.sync(
            #"{"data": [{"type": "parts", "id": "10"}, {"type": "parts", "id": "20", "attributes": {"ident": 1}}]}"#)
        #expect(result["Part"].inserted == [.integer(1)])
        #expect(result.diagnostics.map(\.kind) == [.missingPrimaryKey])
    }

    @Test("A JSON:API id overrides the primary key in the attributes, and no other attribute")
    func idOverridesThePrimaryKeyOnly() async throws {
        let model = """
            {"entities": {"Part": {"attributes": {"remoteID": "integer"}},
              "Country": {"primaryKey": "iso", "attributes": {"iso": "string", "id": "integer"}}}}
            """
        var routes = ShapeRoutes(model: try ShapeTests.model(model), entity: "Part")
        routes.options.format = .jsonAPI
        let (result, stack) = try await routes.sync(
            """
            {"data": [{"type": "parts", "id": "1", "attributes": {"remote_id": 7}}],
             "included": [{"type": "countries", "id": "2", "attributes": {"iso": "AD", "id": 5}},
               {"type": "countries", "id": "3", "attributes": {"iso": "AE"}}]}
            """)
        #expect(result["Part"].inserted == [.integer(1)])
        #expect(result.diagnostics.map(\.kind) == [.objectKeyMismatch])
        #expect(try await stack.fetch("Country", id: "AD")?["id"] == .integer(5))
        #expect(try await stack.fetch("Country", id: "AE")?["id"] == .integer(3))
    }

    @Test(
        "A JSON:API resource finds the owners in its key by type and id, in any order of the resources",
        arguments: [false, true])
    func ownersInKeysOfResources(ownersFirst: Bool) async throws {
        let model = """
            {"entities": {
              "Repo": {"primaryKey": "code", "attributes": {"code": "integer"},
                "relationships": {"issues": {"entity": "Issue", "many": true, "inverse": "repo"}}},
              "Issue": {"primaryKey": ["repo", "num"], "attributes": {"num": "integer", "text": "string"},
                "relationships": {"repo": {"entity": "Repo"}, "notes": {"entity": "Note", "many": true, "inverse": "issue"}}},
              "Note": {"primaryKey": ["issue", "num"], "attributes": {"num": "integer"},
                "relationships": {"issue": {"entity": "Issue"}, "next": {"entity": "Note"}}}}}
            """
        var routes = ShapeRoutes(model: try ShapeTests.model(model), entity: "Issue")
        routes.options.format = .jsonAPI
        let data = """
            "data": [{"type": "issues", "id": "x1", "attributes": {"num": 1, "text": "a"},
                "relationships": {"repo": {"data": {"type": "repos", "id": "1"}}}},
              {"type": "issues", "id": "x2", "attributes": {"num": 1, "text": "b"},
                "relationships": {"repo": {"data": {"type": "repos", "id": "8"}}}}]
            """
        let included = """
            "included": [{"type": "notes", "id": "n", "attributes": {"num": 5}, "relationships": {
                "issue": {"data": {"type": "issues", "id": "x1"}}, "next": {"data": {"type": "notes", "id": "m"}}}},
              {"type": "notes", "id": "m", "attributes": {"num": 6},
                "relationships": {"issue": {"data": {"type": "issues", "id": "x2"}}}},
              {"type": "repos", "id": "1", "attributes": {"code": 7}}, {"type": "repos", "id": "7", "attributes": {"code": 1}},
              {"type": "repos", "id": "r", "attributes": {"code": 8},
                "relationships": {"issues": {"data": [{"type": "issues", "id": "x2"}]}}}]
            """
        let document = ownersFirst ? "{\(included), \(data)}" : "{\(data), \(included)}"
        let (result, stack) = try await routes.sync(document)
        #expect(result.diagnostics == [])
        #expect(result.pendingReferences == [])
        #expect(Set(result["Issue"].inserted.map(\.description)) == ["[7,1]", "[8,1]"])
        #expect(Set(result["Note"].inserted.map(\.description)) == ["[[7,1],5]", "[[8,1],6]"])
        #expect(try await stack.count("Issue", where: "repo == 7 AND text == 'a'") == 1)
        #expect(try await stack.count("Issue", where: "repo == 8 AND text == 'b'") == 1)
        #expect(try await stack.count("Note", where: "num == 5 AND next.num == 6") == 1)
    }

    @Test("JSON:API ids that look alike and have different bytes are two resources")
    func idsThatLookAlike() async throws {
        let model = """
            {"entities": {"Part": {"primaryKey": "num", "attributes": {"num": "integer"},
              "relationships": {"next": {"entity": "Part"}}}}}
            """
        var routes = ShapeRoutes(model: try ShapeTests.model(model), entity: "Part")
        routes.options.format = .jsonAPI
        let (_, stack) = try await routes.sync(
            """
            {"data": [{"type": "parts", "id": "e\u{301}", "attributes": {"num": 1}},
              {"type": "parts", "id": "\u{E9}", "attributes": {"num": 2}},
              {"type": "parts", "id": "x", "attributes": {"num": 3},
                "relationships": {"next": {"data": {"type": "parts", "id": "e\u{301}"}}}}]}
            """)
        #expect(try await stack.count("Part", where: "num == 3 AND next == 1") == 1)
    }

    @Test("A JSON:API page that names the next one deletes nothing, and a paged import deletes at its end")
    func pagesOfJSONAPI() async throws {
        let stack = try DataStack.inMemory(ShapeTests.model(Self.blog))
        var options = SyncOptions()
        options.format = .jsonAPI
        try await Sync.changes(
            Data(#"{"data": [{"type": "articles", "id": "9"}]}"#.utf8), inEntity: "Article", stack: stack,
            options: options)
        let first = Data(#"{"data": [{"type": "articles", "id": "1"}], "links": {"next": "/2"}}"#.utf8)
        let last = Data(#"{"data": [{"type": "articles", "id": "2"}], "links": {"next": null}}"#.utf8)
        for size in [1, 1000] {
            var pieces = options
            pieces.chunkSize = size
            pieces.commitsEachChunk = true
            let chunks = AsyncStream<Data> {
                $0.yield(first); $0.finish()
            }
            let result = try await Sync.changes(.buffers(chunks), inEntity: "Article", stack: stack, options: pieces)
            #expect(result.nextPage == "/2")
            #expect(try await stack.count("Article") == 2)
        }
        #expect(
            try await Sync.changes(first, inEntity: "Article", stack: stack, options: options).nextPage == "/2")
        let run = PagedImport()
        options.payloadKind = .page(of: run)
        let page = try await Sync.changes(first, inEntity: "Article", stack: stack, options: options)
        #expect(page.nextPage == "/2")
        #expect(try await Sync.changes(last, inEntity: "Article", stack: stack, options: options).nextPage == nil)
        let whole = try await run.finish()
        #expect(whole["Article"].deleted == [.integer(9)])
        #expect(whole.nextPage == nil)
    }

    @Test(
        "A JSON:API document with errors or without readable data is an error and changes nothing",
        arguments: [
            (
                #"{"data": [{"type": "articles", "id": "1"}], "errors": [{"title": "no"}]}"#,
                SyncError.Code.errorDocument
            ),
            (#"{"data": [{"type": "people", "id": "1"}]}"#, .noRecords),
            (#"{"data": [{"type": "robots", "id": "1"}]}"#, .noRecords), (#"{"data": [{"id": "1"}]}"#, .noRecords),
            (#"{"meta": {}}"#, .keyPathNotFound), (#"[{"id": 1}]"#, .recordExpected),
            (#"{"data": [{"type": "articles", "id": "1"}], "included": {}}"#, .recordExpected),
        ])
    func unusableDocumentChangesNothing(_ text: String, _ code: SyncError.Code) async throws {
        let stack = try DataStack.inMemory(ShapeTests.model(Self.blog))
        let options = SyncOptions.of(.jsonAPI)
        try await Sync.changes([["id": 5]], inEntity: "Article", stack: stack)
        for size in [1, 1000] {
            let options = SyncOptions.of(.jsonAPI, piecesOf: size)
            let chunks = AsyncStream<Data> {
                $0.yield(Data(text.utf8)); $0.finish()
            }
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(.buffers(chunks), inEntity: "Article", stack: stack, options: options)
            }
            #expect(error?.code == code)
        }
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(text.utf8), inEntity: "Article", stack: stack, options: options)
        }
        #expect(error?.code == code)
        #expect(try await stack.count("Article") == 1)
        #expect(try await stack.count("Person") == 0)
    }

    @Test("A GraphQL document gives the same result on every route")
    func graphQLOnEveryRoute() async throws {
        let (result, stack) = try await routes(.graphQL).sync(
            """
            {"data": {"articles": {"totalCount": 2, "edges": [
              {"cursor": "a", "node": {"__typename": "Article", "id": 1, "title": "A", "author": {"id": 3, "name": "F"},
                "comments": {"nodes": [{"id": 1, "body": "c"}, null], "pageInfo": {"hasNextPage": false}}}},
              {"node": null},
              {"node": {"id": 2, "comments": {"edges": [{"node": {"id": 5}}]}, "tags": {"nodes": []}}}],
              "pageInfo": {"hasNextPage": false, "endCursor": "z"}}}}
            """, after: #"{"data": {"articles": [{"id": 2, "comments": [{"id": 6}]}, {"id": 9}]}}"#)
        #expect(result["Article"].inserted == [.integer(1)])
        // A null node is an article that the service hides, so the list is not complete.
        #expect(result["Article"].deleted == [])
        #expect(result["Comment"].deleted == [.integer(6)])
        #expect(result.unmappedKeys == [])
        #expect(result.nextPage == nil)
        #expect(try await stack.count("Comment", where: "article.id == 2") == 1)
    }

    @Test("A GraphQL connection without null nodes deletes the rows that it omits")
    func wholeConnectionDeletes() async throws {
        let (result, _) = try await routes(.graphQL).sync(
            #"{"data": {"articles": {"edges": [{"node": {"id": 1}}, {"node": {"id": 2, "comments": {"nodes": [{"id": 5}, null]}}}]}}}"#,
            after: #"{"data": {"articles": [{"id": 2, "comments": [{"id": 6}]}, {"id": 9}]}}"#)
        #expect(result["Article"].deleted == [.integer(9)])
        #expect(result["Comment"].deleted == [])
        #expect(result["Comment"].inserted == [.integer(5)])
    }

    @Test("The error for a nested GraphQL field names its key path")
    func nestedFieldIsNamed() async throws {
        let stack = try DataStack.inMemory(ShapeTests.model(Self.blog))
        let options = SyncOptions.of(.graphQL)
        let json = Data(#"{"data": {"viewer": {"articles": {"nodes": [{"id": 1}]}}}}"#.utf8)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntity: "Article", stack: stack, options: options)
        }
        #expect(error?.keyPaths == [["viewer", "articles"]])
        var path = options
        path.keyPath = ["viewer", "articles"]
        #expect(
            try await Sync.changes(json, inEntity: "Article", stack: stack, options: path)["Article"].insertedCount
                == 1)
        #expect(try await Sync.validate(json, inEntity: "Article", stack: stack, options: path).losesData == false)
    }

    static let subjects = """
        {"entities": {
          "Animal": {"abstract": true, "attributes": {"id": "integer", "name": "string"},
            "discriminator": {"key": "type", "values": {"dog": "Dog", "guide": "GuideDog", "cat": "Cat"}}},
          "Dog": {"parent": "Animal", "attributes": {"barks": "boolean"}},
          "GuideDog": {"parent": "Dog", "attributes": {"owner": {"type": "string", "optional": false}}},
          "Cat": {"parent": "Animal", "relationships": {"friends": {"entity": "Animal", "many": true}}},
          "Subject": {"abstract": true, "discriminator": {"key": "type", "values": {"Post": "Post", "Photo": "Photo"}}},
          "Post": {"parent": "Subject", "attributes": {"id": "integer"}},
          "Photo": {"parent": "Subject", "attributes": {"id": "integer"}},
          "Remark": {"attributes": {"id": "integer"}, "relationships": {
            "subject": {"entity": "Subject"}, "about": {"entity": "Subject", "remoteKey": "about_id"}}}}}
        """

    @Test("Discriminators give the same result on every route, and unusable records are reported by path")
    func discriminatorsOnEveryRoute() async throws {
        let routes = ShapeRoutes(model: try ShapeTests.model(Self.subjects), entity: "Animal")
        let (result, stack) = try await routes.sync(
            """
            [{"id": 1, "type": "dog", "barks": true}, {"type": "cat", "friends": [{"id": 1, "type": "dog"},
              {"id": 5, "type": "guide"}, {"id": 6, "type": "ox"}], "id": 2}, {"id": 3, "type": "wolf"}, {"id": 4, "type": "guide", "owner": "x"}]
            """, after: #"[{"id": 3, "type": "dog"}, {"id": 9, "type": "cat"}]"#)
        #expect(result["Dog"].inserted == [.integer(1)])
        #expect(result["GuideDog"].inserted == [.integer(4)])
        #expect(result["Cat"].deleted == [.integer(9)])
        #expect(Set(result.diagnostics.map(\.path)) == ["[1].friends[1]", "[1].friends[2]", "[2]"])
        #expect(try await stack.count("Dog", where: "id == 3") == 1)
        let exported = try await stack.export("Animal")
        #expect(exported.map { $0["type"] } == ["dog", "cat", "dog", "guide"])
        #expect(
            try await Sync.changes(.array(exported), inEntity: "Animal", stack: stack).isEmpty)
    }

    @Test("A discriminator beside a reference gives the same result on every route, and pending references")
    func discriminatorBesideReference() async throws {
        let model = try ShapeTests.model(Self.subjects)
        let routes = ShapeRoutes(model: model, entity: "Remark")
        let (result, stack) = try await routes.sync(
            """
            [{"id": 1, "subject_type": "Post", "subject_id": 7, "about_type": "Photo", "about_id": 7},
             {"id": 2, "subjectType": "Photo", "subjectId": 7}, {"id": 3, "subject": {"type": "Photo", "id": 8}},
             {"id": 4, "subject_type": "Photo", "subject": {"id": 9}}, {"id": 5, "subject_type": null, "subject_id": null}]
            """)
        #expect(result["Photo"].inserted == [.integer(8), .integer(9)])
        #expect(result.pendingReferences.count == 3)
        try await Sync.changes([["id": 7]], inEntity: "Post", stack: stack, options: SyncOptions(payloadKind: .delta))
        try await Sync.changes(
            [["id": 7, "type": "Photo"]], inEntity: "Subject", stack: stack, options: SyncOptions(payloadKind: .delta))
        let remarks = try await stack.export("Remark")
        #expect(remarks[0]["subject"] == ["id": 7, "type": "Post"])
        #expect(remarks[0]["about_id"] == ["id": 7, "type": "Photo"])
        #expect(remarks[1]["subject"] == ["id": 7, "type": "Photo"])
        #expect(try await Sync.changes(.array(remarks), inEntity: "Remark", stack: stack).isEmpty)
    }

    @Test("A single row is of the entity that its discriminator says")
    func singleRowHasItsEntity() async throws {
        let stack = try DataStack.inMemory(ShapeTests.model(Self.subjects))
        let (row, _) = try await Sync.insertOrUpdate(
            ["id": 1, "type": "guide", "owner": "x"], inEntity: "Animal", stack: stack)
        #expect(row.entity == "GuideDog")
        let error = await #expect(throws: SyncError.self) {
            try await Sync.insertOrUpdate(["id": 2, "type": "ox"], inEntity: "Animal", stack: stack)
        }
        #expect(error?.code == .primaryKeyMissing)
    }

    @Test("A store that is opened with other discriminators keeps its rows")
    func otherDiscriminatorsKeepRows() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let url = folder.database
        let plain = Self.subjects.replacingOccurrences(of: #""dog": "Dog", "#, with: "")
        let first = try DataStack(model: ShapeTests.model(plain), at: url)
        try await Sync.changes([["id": 1, "type": "cat"]], inEntity: "Animal", stack: first)
        try first.close()
        let second = try DataStack(model: ShapeTests.model(Self.subjects), at: url)
        #expect(try await second.count("Cat") == 1)
        try await Sync.changes(
            [["id": 1, "type": "cat"], ["id": 2, "type": "dog"]], inEntity: "Animal", stack: second)
        try second.close()
        #expect(try DataStack(at: url).model == ShapeTests.model(Self.subjects))
    }
}

extension SyncOptions {
    fileprivate static func of(_ format: PayloadFormat, piecesOf size: Int = 1 << 20) -> SyncOptions {
        var options = SyncOptions()
        options.format = format
        options.chunkSize = size
        return options
    }
}
