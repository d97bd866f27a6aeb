import Foundation
import SyncCore
import Testing

@Suite("Models of the shared corpus", .enabled(if: ModelFixtures.corpus != nil, "SYNC_CONFORMANCE is not set"))
struct CorpusModelTests {
    @Test("Corpus models survive a schema file, which fits the JSON Schema")
    func corpusModelsRoundTrip() throws {
        let corpus = try #require(ModelFixtures.corpus)
        let schema = JSONSchemaChecker(root: try ModelFixtures.json(ModelFixtures.schema))
        let files = try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted()
        #expect(!files.isEmpty)
        for file in files {
            let model = try SyncModel(contentsOf: corpus.appendingPathComponent(file))
            #expect(!model.entities.isEmpty, "\(file)")
            let written = model.schemaFile()
            #expect(try SyncModel(schemaData: written) == model, "\(file)")
            #expect(schema.violations(of: try JSONValue(parsing: written)) == [], "\(file)")
        }
    }
}
