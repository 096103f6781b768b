// The tokens of a .tile file: Python's. TileLexerBase turns NEWLINE and the white space in front of a line into NEWLINE,
// INDENT and DEDENT, joins lines within brackets, and reports what is wrong with the text. Bytes, limits and the insides of
// numbers and strings are checked in C++; the rules here take anything that looks like one, so that the message can
// tell what is wrong with it.
lexer grammar TileLexer;

options { superClass = TileLexerBase; }

@header { #include "TileLexerBase.h" }

tokens { INDENT, DEDENT }

FALSE    : 'False' ;
NONE     : 'None' ;
TRUE     : 'True' ;
AND      : 'and' ;
AS       : 'as' ;
ASSERT   : 'assert' ;
ASYNC    : 'async' ;
AWAIT    : 'await' ;
BREAK    : 'break' ;
CLASS    : 'class' ;
CONTINUE : 'continue' ;
DEF      : 'def' ;
DEL      : 'del' ;
ELIF     : 'elif' ;
ELSE     : 'else' ;
EXCEPT   : 'except' ;
FINALLY  : 'finally' ;
FOR      : 'for' ;
FROM     : 'from' ;
GLOBAL   : 'global' ;
IF       : 'if' ;
IMPORT   : 'import' ;
IN       : 'in' ;
IS       : 'is' ;
LAMBDA   : 'lambda' ;
NONLOCAL : 'nonlocal' ;
NOT      : 'not' ;
OR       : 'or' ;
PASS     : 'pass' ;
RAISE    : 'raise' ;
RETURN   : 'return' ;
TRY      : 'try' ;
WHILE    : 'while' ;
WITH     : 'with' ;
YIELD    : 'yield' ;

LPAR : '(' ;
RPAR : ')' ;
LSQB : '[' ;
RSQB : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;

COLON     : ':' ;
COMMA     : ',' ;
SEMI      : ';' ;
DOT       : '.' ;
ELLIPSIS  : '...' ;
ARROW     : '->' ;
WALRUS    : ':=' ;
ASSIGN    : '=' ;
PLUS      : '+' ;
MINUS     : '-' ;
STAR      : '*' ;
SLASH     : '/' ;
FLOORDIV  : '//' ;
PERCENT   : '%' ;
AT        : '@' ;
POWER     : '**' ;
SHL       : '<<' ;
SHR       : '>>' ;
AMP       : '&' ;
BAR       : '|' ;
CARET     : '^' ;
TILDE     : '~' ;
LT        : '<' ;
GT        : '>' ;
LE        : '<=' ;
GE        : '>=' ;
EQ        : '==' ;
NE        : '!=' ;
ADD_ASSIGN      : '+=' ;
SUB_ASSIGN      : '-=' ;
MUL_ASSIGN      : '*=' ;
DIV_ASSIGN      : '/=' ;
FLOORDIV_ASSIGN : '//=' ;
MOD_ASSIGN      : '%=' ;
AT_ASSIGN       : '@=' ;
POW_ASSIGN      : '**=' ;
SHL_ASSIGN      : '<<=' ;
SHR_ASSIGN      : '>>=' ;
AND_ASSIGN      : '&=' ;
OR_ASSIGN       : '|=' ;
XOR_ASSIGN      : '^=' ;

// Before NAME, so that r"..." is one token; a prefix that Python lacks is left to be a NAME with a string behind it.
STRING          : PREFIX? ( SHORT1 '\'' | SHORT2 '"' | LONG1 '\'\'\'' | LONG2 '"""' ) ;
UNCLOSED_STRING : PREFIX? ( SHORT1 | SHORT2 ) ;
UNCLOSED_LONG   : PREFIX? ( LONG1 '\''? '\''? | LONG2 '"'? '"'? ) ;

fragment PREFIX : [rRuU] | [bBfFtT] [rR]? | [rR] [bBfFtT] ;
fragment ESCAPE : '\\' ( '\r\n' | . ) ;
fragment SHORT1 : '\'' ( ESCAPE | ~[\\\r\n'] )* ;
fragment SHORT2 : '"' ( ESCAPE | ~[\\\r\n"] )* ;
// One or two quotes inside a long string are followed by something else.
fragment LONG1  : '\'\'\'' ( '\''? '\''? ( ESCAPE | ~[\\'] ) )* ;
fragment LONG2  : '"""' ( '"'? '"'? ( ESCAPE | ~[\\"] ) )* ;

// The stream shows each character outside of ASCII as one of three: U+0001 may start a name (XID_Start), U+0002 may stand in
// one (XID_Continue), U+0003 may not. ANTLR caches decisions for ASCII only and would be slow on anything else.
NAME   : [_a-zA-Z\u0001] [_0-9a-zA-Z\u0001\u0002]* ;
NUMBER : '0' [xX] ALNUM*
       | '.'? [0-9] ( [eE] [+\-] [0-9] | ALNUM | '.' )*
       ;
fragment ALNUM : [0-9A-Za-z_] ;

NEWLINE   : '\r\n' | '\n' | '\r' ;
LINE_JOIN : '\\' ( '\r\n' | '\n' | '\r' ) -> skip ;
BLANK     : [ \t\f]+ -> skip ;
COMMENT   : '#' ~[\r\n]* -> skip ;

// Anything else: the base class reports it and drops it.
UNKNOWN : . ;
