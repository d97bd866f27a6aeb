import SyncCore
import Testing

@Suite("JSON:API resource types")
struct ResourceTypesTests {
    static let model = Result {
        try SyncModel(entities: [
            SyncModel.Entity("BlogPost"), SyncModel.Entity("Person"), SyncModel.Entity("Category"),
            SyncModel.Entity("News"),
            SyncModel.Entity("Tag", resourceType: "labels"), SyncModel.Entity("Label"), SyncModel.Entity("Users"),
        ])
    }

    @Test(
        "A resource type matches an entity name in any spelling and in the plural",
        arguments: [
            ("blog-posts", "BlogPost"), ("blog_post", "BlogPost"), ("blogPosts", "BlogPost"), ("BlogPost", "BlogPost"),
            ("people", "Person"), ("person", "Person"), ("categories", "Category"), ("news", "News"), ("user", "Users"),
            ("users", "Users"), ("tags", "Tag"), ("labels", "Tag"), ("label", "Label"), ("robots", nil), ("", nil),
        ] as [(String, String?)])
    func resourceTypesMatchEntities(_ type: String, _ entity: String?) throws {
        let compiled = try Self.model.get().compiled
        #expect(ResourceTypes(compiled).entity(of: type).map { compiled.entities[$0].name } == entity)
    }
}
