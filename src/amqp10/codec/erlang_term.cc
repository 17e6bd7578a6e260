#include "amqp10/codec/erlang_term.h"

#include "base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace revenant::amqp10 {
namespace {

// Maximum size of a term, so that client input cannot make an error message too large for a frame.
constexpr std::size_t shown_bytes_max = 256;

bool is_printable(std::string_view bytes) {
    return is_utf8(bytes) && std::all_of(bytes.begin(), bytes.end(), [](char c) {
               return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
           });
}

std::string_view name_of(Type type) {
    switch (type) {
        case Type::null:
            return "null";
        case Type::boolean:
            return "boolean";
        case Type::ubyte:
            return "ubyte";
        case Type::ushort:
            return "ushort";
        case Type::uint:
            return "uint";
        case Type::ulong:
            return "ulong";
        case Type::byte:
            return "byte";
        case Type::short_int:
            return "short";
        case Type::int32:
            return "int";
        case Type::long_int:
            return "long";
        case Type::float32:
            return "float";
        case Type::float64:
            return "double";
        case Type::decimal32:
        case Type::decimal64:
        case Type::decimal128:
            return "as_is";
        case Type::character:
            return "char";
        case Type::timestamp:
            return "timestamp";
        case Type::uuid:
            return "uuid";
        case Type::binary:
            return "binary";
        case Type::string:
            return "utf8";
        case Type::symbol:
            return "symbol";
        case Type::list:
            return "list";
        case Type::map:
            return "map";
        case Type::array:
            return "array";
        case Type::described:
            return "described";
    }
    return "unknown";
}

class Term {
  public:
    std::string text(const Datum& datum) {
        add(datum);
        return std::move(text_);
    }

  private:
    bool is_full() const { return text_.size() >= shown_bytes_max; }

    void add(const Datum& datum) {
        if (is_full()) {
            text_ += "...";
        } else if (datum.is_null()) {
            text_ += "null";
        } else if (const bool* flag = datum.as_boolean()) {
            text_ += *flag ? "true" : "false";
        } else {
            text_ += '{';
            text_ += name_of(datum.type);
            text_ += ',';
            add_content(datum);
            text_ += '}';
        }
    }

    void add_content(const Datum& datum) {
        if (const std::uint64_t* number = datum.as_unsigned()) {
            text_ += std::to_string(*number);
        } else if (const std::int64_t* signed_number = datum.as_signed()) {
            text_ += std::to_string(*signed_number);
        } else if (const double* real = std::get_if<double>(&datum.content)) {
            text_ += std::to_string(*real);
        } else if (const std::string* bytes = std::get_if<std::string>(&datum.content)) {
            text_ += erlang_binary(*bytes);
        } else if (const Data* elements = datum.as_elements()) {
            add_elements(datum.type, *elements);
        } else if (const DataMap* entries = datum.as_map()) {
            add_all(*entries, [this](const MapEntry& entry) {
                text_ += '{';
                add(entry.key);
                text_ += ',';
                add(entry.value);
                text_ += '}';
            });
        }
    }

    void add_elements(Type type, const Data& elements) {
        if (type == Type::described && elements.size() == 2) {
            add(elements[0]);
            text_ += ',';
            return add(elements[1]);
        }
        if (type == Type::array) {
            text_ += name_of(elements.empty() ? Type::null : elements[0].type);
            text_ += ',';
        }
        add_all(elements, [this](const Datum& element) { add(element); });
    }

    template <typename All, typename Add>
    void add_all(const All& all, Add add_one) {
        text_ += '[';
        bool first = true;
        for (const auto& one : all) {
            if (!first) text_ += ',';
            first = false;
            add_one(one);
            if (is_full()) break;
        }
        text_ += ']';
    }

    std::string text_;
};

}  // namespace

std::string erlang_binary(std::string_view bytes) {
    const std::string_view shown = bytes.substr(0, shown_bytes_max);
    const std::string_view rest = shown.size() < bytes.size() ? "..." : "";
    std::string text = "<<";
    if (is_printable(bytes) && !bytes.empty()) {
        text += '"';
        bool ascii = true;
        for (const char c : utf8_prefix(bytes, shown_bytes_max)) {
            if (c == '"' || c == '\\') text += '\\';
            if (static_cast<unsigned char>(c) >= 0x80) ascii = false;
            text += c;
        }
        text += rest;
        text += ascii ? "\"" : "\"/utf8";
    } else {
        for (const char c : shown) {
            if (text.size() > 2) text += ',';
            text += std::to_string(static_cast<unsigned char>(c));
        }
        text += rest;
    }
    return text + ">>";
}

std::string erlang_term(const Datum& datum) { return Term().text(datum); }

}  // namespace revenant::amqp10
