/// A conversion between JSON and the values of an attribute.
///
/// A model refers to transformers by name. Schema files use `"transformer": "Entities"`, Core Data models use
/// `sync.valueTransformer`, and Swift types use `@Transformer`. Register each transformer with the model:
///
/// ```swift
/// let entities = AttributeTransformer("Entities") { json in
///     guard case .string(let text) = json else { return nil }
///     return .string(text.replacing("&amp;", with: "&"))
/// }
/// let model = try SyncModel(contentsOf: url).registering(entities)
/// ```
///
/// Several transformers form a chain (`"transformer": ["trimmed", "Entities"]`). Each transformer converts the result
/// of the previous transformer, unless that result is null. Exports run the chain in reverse. Some transformers are
/// built in: `htmlEntities`, `trimmed`, `emptyAsNull`, `lowercased` and `commaSeparated`.
public struct AttributeTransformer: Sendable {
    /// The name by which models refer to the transformer.
    package let name: String
    private let importing: @Sendable (JSONValue) -> StoredValue?
    private let exporting: (@Sendable (StoredValue) -> JSONValue?)?

    /// Creates a transformer.
    ///
    /// - Parameters:
    ///   - name: The name of the transformer in models. The transformer takes precedence over a built-in transformer of
    ///     the same name.
    ///   - importing: A function that converts a JSON value other than null, or returns nil if the value is invalid.
    ///     The result of the last transformer must be null, a value of the attribute's type, or
    ///     ``StoredValue/json(_:)``. The sync converts the JSON of a ``StoredValue/json(_:)`` to the attribute's type,
    ///     like a value of the payload. An attribute of type `json` or `transformable` stores any result as JSON.
    ///   - exporting: A function that converts a value other than null to JSON, or returns nil to omit the attribute.
    ///     An export applies the transformers of an attribute in reverse order. The function receives the stored value,
    ///     or the result of the transformer that was applied before. If a date attribute has a format, the date is
    ///     formatted first. If the function is nil, exports omit the attribute, and engines do not send the attribute.
    public init(
        _ name: String, importing: @escaping @Sendable (JSONValue) -> StoredValue?,
        exporting: (@Sendable (StoredValue) -> JSONValue?)? = nil
    ) {
        self.name = name
        self.importing = importing
        self.exporting = exporting
    }

    /// Creates a transformer whose values are exported unchanged.
    init(unchangedOnExport name: String, importing: @escaping @Sendable (JSONValue) -> StoredValue?) {
        self.init(name, importing: importing) { $0.jsonForm }
        isUnchangedOnExport = true
    }

    /// Whether values are exported unchanged.
    private(set) var isUnchangedOnExport = false

    /// Converts a JSON value other than null, or returns nil if the value is invalid.
    package func imported(_ json: JSONValue) -> StoredValue? { importing(json) }

    /// Whether the transformer can convert stored values to JSON.
    package var canExport: Bool { exporting != nil }

    /// Converts a stored value other than null to JSON for an export, or returns nil to omit the attribute.
    package func json(_ value: StoredValue) -> JSONValue? { exporting?(value) }
}

// MARK: - Standard transformers

/// The built-in transformers, which a model can name without registering them, alone or in a chain.
///
/// ```json
/// "title": { "type": "string", "transformer": ["htmlEntities", "trimmed", "emptyAsNull"] }
/// ```
///
/// The transformers convert strings. ``htmlEntities``, ``trimmed`` and ``lowercased`` also convert each string in a
/// list. All except ``commaSeparated`` leave other values unchanged. A registered transformer with the same name takes
/// precedence.
package enum StandardTransformer: String, Sendable, Hashable, CaseIterable {
    /// Decodes HTML entities once: `&amp;`, `&eacute;`, `&#233;`, `&#xE9;`. Exports encode `&`, `<`, `>` and `"`.
    case htmlEntities
    /// Removes whitespace and line breaks at both ends. Exports write the stored value.
    case trimmed
    /// Converts an empty string to null. Exports write the stored value.
    case emptyAsNull
    /// Converts a string to lower case. Exports write the stored value.
    case lowercased
    /// Converts `"a, b"` to the list `["a", "b"]`, without empty elements and without whitespace around elements. The
    /// attribute must be of type `json` or `transformable`, unless a registered transformer follows. A list stays
    /// unchanged, and a number is converted like a string. Other values are invalid. Exports join the elements with
    /// commas. If a sync would read the joined string as a different list, exports omit the attribute.
    case commaSeparated
}

extension StandardTransformer {
    /// The transformer with this name.
    var transformer: AttributeTransformer { Self.transformers[self] ?? make() }

    private static let transformers = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, $0.make()) })

    private func make() -> AttributeTransformer {
        switch self {
        case .htmlEntities:
            AttributeTransformer(rawValue) {
                .json($0.mappingTexts(HTMLEntities.decoded))
            } exporting: { value in
                value.jsonForm.mappingTexts(HTMLEntities.encoded)
            }
        case .trimmed: AttributeTransformer(unchangedOnExport: rawValue) { .json($0.mappingTexts(Self.trimmed)) }
        case .emptyAsNull:
            AttributeTransformer(unchangedOnExport: rawValue) { $0 == .string("") ? .null : .json($0) }
        case .lowercased:
            AttributeTransformer(unchangedOnExport: rawValue) { json in .json(json.mappingTexts { $0.lowercased() }) }
        case .commaSeparated: AttributeTransformer(rawValue, importing: Self.list, exporting: Self.commaSeparated)
        }
    }

    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }

    // MARK: Lists

    private static func parts(_ text: String) -> [String] {
        text.split(separator: ",").map { trimmed(String($0)) }.filter { !$0.isEmpty }
    }

    private static func list(_ json: JSONValue) -> StoredValue? {
        switch json {
        case .array: .json(json)
        case .string(let text), .number(let text): .json(.array(parts(text).map(JSONValue.string)))
        case .null, .bool, .object: nil
        }
    }

    /// Joins the elements of a list with commas; nil if reading the text would give another list, or if the value is
    /// not a list of strings.
    private static func commaSeparated(_ value: StoredValue) -> JSONValue? {
        guard case .array(let elements) = value.jsonForm else { return nil }
        let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        let joined = texts.joined(separator: ",")
        return texts.count == elements.count && parts(joined) == texts ? .string(joined) : nil
    }
}

extension JSONValue {
    /// Returns the value with its string converted. In a list, converts each string, also in nested lists.
    fileprivate func mappingTexts(_ change: (String) -> String) -> JSONValue {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let elements): .array(elements.map { $0.mappingTexts(change) })
        case .null, .bool, .number, .object: self
        }
    }
}

/// A decoder and encoder of HTML entities: `&amp;`, `&#38;`, `&#x26;`.
enum HTMLEntities {
    /// Decodes entities. Unknown entities, and those without a semicolon, stay unchanged.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(ampersand) else { return text }
        var result = ""
        var rest = text.unicodeScalars[...]
        while let start = rest.firstIndex(of: "&") {
            result.unicodeScalars += rest[..<start]
            let name = rest[start...].dropFirst().prefix(longestName)
            if let end = name.firstIndex(of: ";"), let scalar = scalar(String(name[..<end])) {
                result.unicodeScalars.append(scalar)
                rest = rest[rest.index(after: end)...]
            } else {
                result.unicodeScalars.append("&")
                rest = rest[rest.index(after: start)...]
            }
        }
        result.unicodeScalars += rest
        return result
    }

    /// Encodes `&`, `<`, `>` and `"`.
    static func encoded(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private static let ampersand = UInt8(ascii: "&")
    /// The most characters to search for the semicolon that ends an entity.
    private static let longestName = 12

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return named[name].flatMap(Unicode.Scalar.init) }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let text = isHexadecimal ? digits.dropFirst() : digits
        guard text.allSatisfy(\.isHexDigit), let code = UInt32(text, radix: isHexadecimal ? 16 : 10), code > 0 else {
            return nil
        }
        // As in the HTML standard, the codes 128 to 159 are Windows-1252.
        return Unicode.Scalar(windows[code] ?? code)
    }

    private static let windows: [UInt32: UInt32] = [
        128: 8364, 130: 8218, 131: 402, 132: 8222, 133: 8230, 134: 8224, 135: 8225, 136: 710, 137: 8240,
        138: 352, 139: 8249, 140: 338, 142: 381, 145: 8216, 146: 8217, 147: 8220, 148: 8221, 149: 8226,
        150: 8211, 151: 8212, 152: 732, 153: 8482, 154: 353, 155: 8250, 156: 339, 158: 382, 159: 376,
    ]

    /// The entities of HTML 4, and `&apos;`.
    private static let named: [String: UInt32] = {
        let words = names.split(separator: " ")
        let pairs = stride(from: 0, to: words.count - 1, by: 2).compactMap { index in
            UInt32(words[index + 1]).map { (String(words[index]), $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }()

    private static let names = """
        quot 34 amp 38 apos 39 lt 60 gt 62 nbsp 160 iexcl 161 cent 162 pound 163 curren 164 yen 165 brvbar 166 \
        sect 167 uml 168 copy 169 ordf 170 laquo 171 not 172 shy 173 reg 174 macr 175 deg 176 plusmn 177 \
        sup2 178 sup3 179 acute 180 micro 181 para 182 middot 183 cedil 184 sup1 185 ordm 186 raquo 187 \
        frac14 188 frac12 189 frac34 190 iquest 191 Agrave 192 Aacute 193 Acirc 194 Atilde 195 Auml 196 \
        Aring 197 AElig 198 Ccedil 199 Egrave 200 Eacute 201 Ecirc 202 Euml 203 Igrave 204 Iacute 205 Icirc 206 \
        Iuml 207 ETH 208 Ntilde 209 Ograve 210 Oacute 211 Ocirc 212 Otilde 213 Ouml 214 times 215 Oslash 216 \
        Ugrave 217 Uacute 218 Ucirc 219 Uuml 220 Yacute 221 THORN 222 szlig 223 agrave 224 aacute 225 acirc 226 \
        atilde 227 auml 228 aring 229 aelig 230 ccedil 231 egrave 232 eacute 233 ecirc 234 euml 235 igrave 236 \
        iacute 237 icirc 238 iuml 239 eth 240 ntilde 241 ograve 242 oacute 243 ocirc 244 otilde 245 ouml 246 \
        divide 247 oslash 248 ugrave 249 uacute 250 ucirc 251 uuml 252 yacute 253 thorn 254 yuml 255 OElig 338 \
        oelig 339 Scaron 352 scaron 353 Yuml 376 fnof 402 circ 710 tilde 732 Alpha 913 Beta 914 Gamma 915 \
        Delta 916 Epsilon 917 Zeta 918 Eta 919 Theta 920 Iota 921 Kappa 922 Lambda 923 Mu 924 Nu 925 Xi 926 \
        Omicron 927 Pi 928 Rho 929 Sigma 931 Tau 932 Upsilon 933 Phi 934 Chi 935 Psi 936 Omega 937 alpha 945 \
        beta 946 gamma 947 delta 948 epsilon 949 zeta 950 eta 951 theta 952 iota 953 kappa 954 lambda 955 mu 956 \
        nu 957 xi 958 omicron 959 pi 960 rho 961 sigmaf 962 sigma 963 tau 964 upsilon 965 phi 966 chi 967 \
        psi 968 omega 969 thetasym 977 upsih 978 piv 982 ensp 8194 emsp 8195 thinsp 8201 zwnj 8204 zwj 8205 \
        lrm 8206 rlm 8207 ndash 8211 mdash 8212 lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221 \
        bdquo 8222 dagger 8224 Dagger 8225 bull 8226 hellip 8230 permil 8240 prime 8242 Prime 8243 lsaquo 8249 \
        rsaquo 8250 oline 8254 frasl 8260 euro 8364 image 8465 weierp 8472 real 8476 trade 8482 alefsym 8501 \
        larr 8592 uarr 8593 rarr 8594 darr 8595 harr 8596 crarr 8629 lArr 8656 uArr 8657 rArr 8658 dArr 8659 \
        hArr 8660 forall 8704 part 8706 exist 8707 empty 8709 nabla 8711 isin 8712 notin 8713 ni 8715 prod 8719 \
        sum 8721 minus 8722 lowast 8727 radic 8730 prop 8733 infin 8734 ang 8736 and 8743 or 8744 cap 8745 \
        cup 8746 int 8747 there4 8756 sim 8764 cong 8773 asymp 8776 ne 8800 equiv 8801 le 8804 ge 8805 sub 8834 \
        sup 8835 nsub 8836 sube 8838 supe 8839 oplus 8853 otimes 8855 perp 8869 sdot 8901 lceil 8968 rceil 8969 \
        lfloor 8970 rfloor 8971 lang 9001 rang 9002 loz 9674 spades 9824 clubs 9827 hearts 9829 diams 9830
        """
}
