import Foundation
import Sync
import SyncTesting

/// The transformers of the corpus.
enum CorpusTransformers {
    static let features = ScenarioFeatures.standard.adding(first, slashDate, ampersands)

    /// Takes the first string of an array of strings, and passes other values through.
    private static let first = AttributeTransformer("BadAPIValueTransformer") { json in
        guard case .array(let elements) = json, case .string? = elements.first else { return .json(json) }
        let areStrings = elements.allSatisfy { if case .string = $0 { true } else { false } }
        return areStrings ? elements.first.map(StoredValue.json) : .json(json)
    } exporting: { value in
        switch value {
        case .string(let text), .json(.string(let text)): [.string(text)]
        case .json(let json): json
        default: nil
        }
    }

    /// Reads `/Date(1459000000000)/`, milliseconds since 1970.
    private static let slashDate = AttributeTransformer("DateStringTransformer") { json in
        guard case .string(let text) = json, text.hasPrefix("/Date("), text.hasSuffix(")/"),
            let milliseconds = Double(text.dropFirst(6).dropLast(2))
        else { return nil }
        return .date(Date(timeIntervalSince1970: milliseconds / 1000))
    }

    private static let ampersands = AttributeTransformer("SyncTestValueTransformer") { json in
        guard case .string(let text) = json else { return nil }
        return .string(text.replacing("&amp;", with: "&"))
    } exporting: { value in
        value.string.map { .string($0.replacing("&", with: "&amp;")) }
    }
}
