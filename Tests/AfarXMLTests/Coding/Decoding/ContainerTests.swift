import AfarXML
import Foundation
import Testing

/// Types with custom implementations of decoding and encoding.
@Suite struct ContainerTests {
    struct Nested: Codable, Equatable {
        var city: String
        var numbers: [Int]
        var rest: Int

        enum CodingKeys: CodingKey { case address, numbers }
        enum AddressKeys: CodingKey { case city }

        init(city: String, numbers: [Int], rest: Int) {
            self.city = city
            self.numbers = numbers
            self.rest = rest
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            city = try container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
                .decode(String.self, forKey: .city)
            var list = try container.nestedUnkeyedContainer(forKey: .numbers)
            numbers = []
            #expect(list.count == 4)
            while list.currentIndex < 2 { numbers.append(try list.decode(Int.self)) }
            let inner = try list.nestedContainer(keyedBy: AddressKeys.self)
            numbers.append(try inner.decode(Int.self, forKey: .city))
            var innermost = try list.nestedUnkeyedContainer()
            rest = try innermost.decode(Int.self)
            #expect(innermost.isAtEnd && list.isAtEnd)
            #expect(throws: DecodingError.self) { try list.decode(Int.self) }
            #expect(throws: DecodingError.self) { try list.decodeNil() }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var address = container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
            try address.encode(city, forKey: .city)
            var list = container.nestedUnkeyedContainer(forKey: .numbers)
            for number in numbers.dropLast() { try list.encode(number) }
            var inner = list.nestedContainer(keyedBy: AddressKeys.self)
            try inner.encode(numbers.last ?? 0, forKey: .city)
            var innermost = list.nestedUnkeyedContainer()
            try innermost.encode(rest)
            #expect(list.count == 4)
        }
    }

    @Test func nestedContainers() throws {
        let value = Nested(city: "Bern", numbers: [1, 2, 3], rest: 4)
        let text = try encoded(value)
        #expect(
            text == """
                <Nested><address><city>Bern</city></address><numbers>1</numbers><numbers>2</numbers><numbers><city>3</city>\
                </numbers><numbers><item>4</item></numbers></Nested>
                """)
        #expect(try decoded(Nested.self, text) == value)
    }

    class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    final class Dog: Animal {
        var tricks: [String]
        private enum CodingKeys: CodingKey { case tricks }

        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(tricks, forKey: .tricks)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func aSuperclassSharesItsSubclassesElement() throws {
        let text = try encoded(Dog(name: "Rex", tricks: ["sit", "roll"]))
        #expect(text == "<Dog><tricks>sit</tricks><tricks>roll</tricks><name>Rex</name></Dog>")
        let dog = try decoded(Dog.self, text)
        #expect(dog.name == "Rex")
        #expect(dog.tricks == ["sit", "roll"])
    }

    @Test func aSuperclassUnderAKey() throws {
        struct Holder: Codable {
            var animal: Animal
            enum CodingKeys: CodingKey { case base }
            init(animal: Animal) { self.animal = animal }
            init(from decoder: any Decoder) throws {
                animal = try Animal(from: decoder.container(keyedBy: CodingKeys.self).superDecoder(forKey: .base))
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try animal.encode(to: container.superEncoder(forKey: .base))
            }
        }
        let text = try encoded(Holder(animal: Animal(name: "Tom")))
        #expect(text == "<Holder><base><name>Tom</name></base></Holder>")
        #expect(try decoded(Holder.self, text).animal.name == "Tom")
    }

    @Test func containersReportTheirKeys() throws {
        struct Probe: Decodable {
            var keys: Set<String>
            var hasA, hasZ, aIsNil: Bool
            enum CodingKeys: String, CodingKey { case a, b, z }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                keys = Set(container.allKeys.map(\.stringValue))
                hasA = container.contains(.a)
                hasZ = container.contains(.z)
                aIsNil = try container.decodeNil(forKey: .a)
                #expect(throws: DecodingError.self) { try container.decodeNil(forKey: .z) }
                #expect(try container.decodeIfPresent(Int8.self, forKey: .z) == nil)
                #expect(try container.decodeIfPresent(Int128.self, forKey: .a) == 1)
                #expect(try container.decode(UInt16.self, forKey: .b) == 2)
            }
        }
        let probe = try decoded(Probe.self, #"<x b="2"><a>1</a><a>2</a><other/></x>"#)
        #expect(probe.keys == ["a", "b"])
        #expect(probe.hasA && !probe.hasZ && !probe.aIsNil)
    }

    @Test func userInfoIsAvailable() throws {
        struct Reader: Codable, Equatable {
            var text: String
            init(text: String) { self.text = text }
            init(from decoder: any Decoder) throws { text = decoder.userInfo[.greeting] as? String ?? "" }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(encoder.userInfo[.greeting] as? String ?? "")
            }
        }
        #expect(
            try decoded([Reader].self, "<x><y/></x>", XMLDecoder(userInfo: [.greeting: "hi"])) == [Reader(text: "hi")])
        #expect(try encoded(Reader(text: ""), XMLEncoder(userInfo: [.greeting: "hi"])) == "<Reader>hi</Reader>")
    }

    @Test func everyWidthOfNumber() throws {
        struct Numbers: Codable, Equatable {
            var a: Int8 = -1
            var b: Int16 = -2
            var c: Int32 = -3
            var d: Int64 = -4
            var e: Int128 = .min
            var f: UInt8 = 6
            var g: UInt16 = 7
            var h: UInt32 = 8
            var i: UInt64 = 9
            var j: UInt128 = .max
            var k: Float = 0.1
            var l: UInt = 12
            var list: [Int128] = [1, 2]
            var optional: UInt128? = 5
        }
        #expect(try decoded(Numbers.self, encoded(Numbers())) == Numbers())
    }
}

extension CodingUserInfoKey {
    fileprivate static let greeting = CodingUserInfoKey(rawValue: "greeting").unsafelyUnwrapped
}
