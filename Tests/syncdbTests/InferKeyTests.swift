import Testing

/// Published tables whose rows have no unique column, or no unique set of columns.
@Suite("Rows without an ID")
struct InferKeyTests {
    private static let barley = """
        [{"yield": 27, "variety": "Manchuria", "year": 1931, "site": "Farm"},
         {"yield": 48.5, "variety": "Manchuria", "year": 1931, "site": "Waseca"},
         {"yield": 27, "variety": "Manchuria", "year": 1932, "site": "Farm"},
         {"yield": 27, "variety": "Glabron", "year": 1931, "site": "Farm"}]
        """
    private static let iris = """
        [{"length": 5.1, "species": "setosa"}, {"length": 4.9, "species": "setosa"}, {"length": 5.1, "species": "setosa"}]
        """

    @Test("Rows without an ID are an error that names a unique key, which import takes")
    func uniqueKeyIsSuggested() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("barley.json", Self.barley)
        let arguments = ["import", file, "--entity", "Yield", "--database", "app.sqlite"]
        let refused = try sandbox.run(arguments)
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains(
                "'variety', 'year', 'site' are together unique in all 4 records: --primary-key variety,year,site"))
        #expect(try sandbox.files == ["barley.json"])
        let named = try sandbox.run(arguments + ["--primary-key", "variety,year", "--primary-key", "site"])
        #expect(named.status == 0, "\(named.errors)")
        #expect(try sandbox.count("Yield", where: "year == 1931") == "3")
        let again = try sandbox.run(arguments)
        #expect(again.status == 0 && again.errors == "")
    }

    @Test("Another --primary-key than that of the database is an error, and nothing is written")
    func keyOfDatabase() throws {
        let sandbox = try Sandbox()
        let first = try sandbox.file(
            "first.json", #"[{"owner_name": "a", "name": "x"}, {"owner_name": "b", "name": "x"}]"#)
        let arguments = ["import", first, "--entity", "Repo", "--database", "app.sqlite", "--primary-key"]
        #expect(try sandbox.run(arguments + ["owner_name"]).status == 0)
        let refused = try sandbox.run(arguments + ["owner_name,name"])
        #expect(
            refused.status == 2
                && refused.errors.contains(
                    "--primary-key owner_name,name is not the key of Repo in the database, ownerName"),
            "\(refused.errors)")
        #expect(try sandbox.run(arguments + ["owner_name"]).status == 0)
    }

    @Test("--primary-key may name the key that an entity inherits")
    func inheritedKey() throws {
        let sandbox = try Sandbox()
        let model = try sandbox.file(
            "model.json",
            #"""
            {"entities": {
              "Animal": {"primaryKey": "tag", "attributes": {"tag": "integer"}},
              "Dog": {"parent": "Animal", "attributes": {"name": "string"}}}}
            """#)
        let dogs = try sandbox.file("dogs.json", #"[{"tag": 1, "name": "a"}]"#)
        let arguments = ["import", dogs, "--entity", "Dog", "--database", "app.sqlite"]
        #expect(try sandbox.run(arguments + ["--model", model]).status == 0)
        let again = try sandbox.run(arguments + ["--primary-key", "tag"])
        #expect(again.status == 0, "\(again.errors)")
    }

    @Test("If several lists need keys, the error names the option that chooses all of them")
    func keysOfSeveralLists() throws {
        let sandbox = try Sandbox()
        let lists = #"{"a": [{"x": "1", "v": 1}, {"x": "2", "v": 1}], "b": [{"y": "1", "v": 1}, {"y": "2", "v": 1}]}"#
        let file = try sandbox.file("lists.json", lists)
        let arguments = ["import", file, "--entity", "a=A", "--entity", "b=B", "--database", "app.sqlite"]
        let refused = try sandbox.run(arguments)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("'x' is unique in all 2 records: --infer-key"), "\(refused.errors)")
        let run = try sandbox.run(arguments + ["--infer-key"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.query("SELECT x FROM A UNION SELECT y FROM B") == "1\n2\n")
    }

    @Test("--infer-key takes the best key and reports it")
    func keyIsInferred() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("barley.json", Self.barley)
        for command in [
            ["import", file, "--entity", "Yield", "--database", "app.sqlite", "--infer-key"],
            ["schema", "infer", file, "--entity", "Yield", "--infer-key"],
        ] {
            let run = try sandbox.run(command)
            #expect(run.status == 0)
            #expect(
                run.errors.contains("the key is inferred from values: 'variety', 'year', 'site' are together unique"))
        }
        let both = try sandbox.run(["schema", "infer", file, "--entity", "A", "--infer-key", "--primary-key", "year"])
        #expect(both.status == 2)
    }

    @Test("Rows without a unique key are an error that names the nearest one")
    func noUniqueKey() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("iris.json", Self.iris)
        let run = try sandbox.run(["schema", "infer", file, "--entity", "Flower", "--infer-key"])
        #expect(run.status == 1)
        #expect(run.errors.contains("the closest is") || run.errors.contains("no other key can"), "\(run.errors)")
    }

    @Test("JSON in another format is an error that names the option for it")
    func optionOfFormatIsNamed() throws {
        for (text, hint, options) in [
            (
                #"{"data": [{"type": "articles", "id": "1", "attributes": {"title": "A"}}]}"#, "--form json-api",
                ["--entity", "Article", "--form", "json-api"]
            ),
            (
                #"{"data": {"articles": {"nodes": [{"id": 1, "title": "A"}]}}}"#, "--form graphql",
                ["--entity", "Article", "--form", "graphql"]
            ),
            (
                #"{"a": {"title": "A"}, "b": {"title": "B"}}"#, "--keyed-by",
                ["--entity", "Article", "--keyed-by", "code"]
            ),
            (
                #"{"articles": [{"id": 1, "title": "A"}], "tags": [{"id": 1}]}"#,
                "--entity articles=Article --entity tags=Tag", ["--entity", "articles=Article", "--entity", "tags=Tag"]
            ),
        ] {
            let sandbox = try Sandbox()
            let file = try sandbox.file("some.json", text)
            let refused = try sandbox.run(["import", file, "--entity", "Article", "--database", "app.sqlite"])
            #expect(refused.status == 1 && refused.errors.contains(hint), "\(refused.errors)")
            let run = try sandbox.run(["import", file, "--database", "app.sqlite"] + options)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try sandbox.count("Article", where: "title == 'A'") == "1")
            let schema = try sandbox.run(["schema", "infer", file, "--quiet"] + options)
            #expect(schema.status == 0 && schema.output.contains("\"Article\""))
        }
    }
}
