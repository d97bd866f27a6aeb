import Foundation
import Testing

@testable import SyncCore

@Suite("Table and column names in models")
struct TableNameTests {
    private static let schema = #"""
        { "entities": {
            "Post": {
              "table": "blog_posts",
              "attributes": { "id": "integer", "postTitle": { "type": "string", "column": "post_title" } },
              "relationships": {
                "author": { "entity": "Author", "inverse": "posts", "column": "author_id" },
                "tags": { "entity": "Tag", "many": true, "inverse": "posts", "table": "post_tags",
                          "column": "tag_id", "inverseColumn": "post_id" } } },
            "Author": {
              "attributes": { "id": "integer" },
              "relationships": { "posts": { "entity": "Post", "many": true, "inverse": "author" } } },
            "Tag": {
              "attributes": { "id": "integer" },
              "relationships": { "posts": { "entity": "Post", "many": true, "inverse": "tags" } } } } }
        """#

    @Test("Table and column names survive a schema file")
    func schemaFileKeepsNames() throws {
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        let post = try #require(model.entity(named: "Post"))
        #expect(post.table == "blog_posts")
        #expect(post.attributes.map(\.column) == [nil, "post_title"])
        #expect(post.relationships.map(\.table) == [nil, "post_tags"])
        #expect(post.relationships.map(\.column) == ["author_id", "tag_id"])
        #expect(post.relationships.map(\.inverseColumn) == [nil, "post_id"])
        let written = model.schemaFile()
        #expect(try SyncModel(schemaData: written) == model)
        let checker = JSONSchemaChecker(root: try ModelFixtures.json(ModelFixtures.schema))
        #expect(checker.violations(of: try JSONValue(parsing: written)) == [])
    }

    @Test("Table and column names are read from the user info of a Core Data model")
    func coreDataModelHasNames() throws {
        func info(_ entries: String) -> String { "<userInfo>\(entries)</userInfo>" }
        let xml = """
            <model><entity name="Post">\(info(#"<entry key="sync.table" value="blog_posts"/>"#))
            <attribute name="id" attributeType="Integer 64">\(info(#"<entry key="sync.column" value="post_id"/>"#))</attribute>
            <relationship name="tags" toMany="YES" destinationEntity="Post">\(info(#"<entry key="sync.table" value="related"/><entry key="sync.column" value="to_id"/><entry key="sync.inverseColumn" value="from_id"/>"#))</relationship>
            </entity></model>
            """
        let post = try #require(SyncModel(coreDataModel: Data(xml.utf8)).entity(named: "Post"))
        #expect(post.table == "blog_posts")
        #expect(post.attributes.first?.column == "post_id")
        #expect(
            post.relationships.map { [$0.table, $0.column, $0.inverseColumn] } == [["related", "to_id", "from_id"]])
    }

    @Test(
        "Invalid and clashing table and column names are rejected",
        arguments: [
            (#""A": { "table": "sync_a" }"#, "entities.A.table"),
            (#""A": { "table": "B" }, "B": {}"#, "entities.A.table"),
            (#""A": {}, "B": { "parent": "A", "table": "b" }"#, "entities.B.table"),
            (
                #""A": { "attributes": { "id": "integer", "x": { "type": "string", "column": "ID" } } }"#,
                "entities.A.attributes.x.column"
            ),
            (
                #""A": { "attributes": { "x": { "type": "string", "column": "sync_x" } } }"#,
                "entities.A.attributes.x.column"
            ),
            (
                #""A": { "attributes": { "id": "integer" }, "relationships": { "b": { "entity": "A", "column": "id" } } }"#,
                "entities.A.relationships.b.column"
            ),
            (
                #""A": { "relationships": { "b": { "entity": "A", "table": "x" } } }"#,
                "entities.A.relationships.b.table"
            ),
            (
                #""A": { "relationships": { "b": { "entity": "A", "inverseColumn": "x" } } }"#,
                "entities.A.relationships.b.inverseColumn"
            ),
            (
                #""A": { "relationships": { "b": { "entity": "A", "inverse": "c" }, "c": { "entity": "A", "many": true, "column": "x" } } }"#,
                "entities.A.relationships.c.column"
            ),
            (
                #""A": { "relationships": { "b": { "entity": "B", "inverse": "a", "column": "x" } } }, "B": { "relationships": { "a": { "entity": "A", "column": "y" } } }"#,
                "entities.A.relationships.b.column"
            ),
            (
                #""A": { "relationships": { "b": { "entity": "B", "many": true, "inverse": "a", "column": "x" } } }, "B": { "relationships": { "a": { "entity": "A", "many": true, "inverseColumn": "y" } } }"#,
                "entities.A.relationships.b.column"
            ),
            (
                #""A": { "relationships": { "b": { "entity": "A", "many": true, "table": "a" } } }"#,
                "entities.A.relationships.b"
            ),
        ])
    func rejectsInvalidNames(entities: String, path: String) throws {
        let error = #expect(throws: SyncError.self) {
            try SyncModel(schemaData: Data("{ \"entities\": { \(entities) } }".utf8))
        }
        #expect(error?.code == .invalidModel)
        #expect(error?.problems.map(\.path) == [path], "\(error?.description ?? "")")
    }
}
